// SPDX-License-Identifier: Apache-2.0
// Completion for bash, zsh and fish.
#include "manual.hpp"
#include "smile/config/catalogue.hpp"

namespace smile::program {
namespace {

/// In single quotes of a shell.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Every key of the configuration with '=', for --set.
std::string keys_text() {
  std::string text;
  for (const KeyEntry& key : list_keys()) text += (text.empty() ? "" : " ") + key.path + "=";
  return text;
}

std::string words_of(const ManualCommand& command) {
  std::string text;
  for (const ManualCommand& below : command.below) text += (text.empty() ? "" : " ") + below.name;
  return text;
}
std::string options_of(const ManualCommand& command) {
  std::string text;
  for (const ManualOption& option : command.options)
    for (const std::string& word : option.words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string bash(const ManualCommand& program) {
  std::string text = "# bash completion for smile: source <(smile completion bash)\n_smile() {\n";
  text += "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n";
  text += "  local command=\"${COMP_WORDS[1]}\" below='' options=''\n  COMPREPLY=()\n";
  text += "  if [[ $COMP_CWORD -eq 1 ]]; then\n    COMPREPLY=($(compgen -W " +
          in_quotes(words_of(program) + " " + options_of(program)) + " -- \"$cur\"))\n    return\n  fi\n";
  text +=
      "  if [[ $prev == --set ]]; then\n    compopt -o nospace 2>/dev/null\n    COMPREPLY=($(compgen -W " +
      in_quotes(keys_text()) + " -- \"$cur\"))\n    return\n  fi\n";
  text += "  case \"$command\" in\n";
  for (const ManualCommand& command : program.below)
    text += "    " + command.name + ") below=" + in_quotes(words_of(command)) +
            " options=" + in_quotes(options_of(command)) + " ;;\n";
  text += "  esac\n";
  text += "  if [[ $cur == -* ]]; then\n    COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n";
  text += "  elif [[ -n $below && $COMP_CWORD -eq 2 ]]; then\n";
  text += "    COMPREPLY=($(compgen -W \"$below\" -- \"$cur\"))\n";
  text +=
      "  else\n    compopt -o filenames 2>/dev/null\n    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n";
  return text + "  fi\n}\ncomplete -F _smile smile\n";
}

/// A description between brackets of zsh's _arguments.
std::string bracketed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string zsh(const ManualCommand& program) {
  std::string text =
      "#compdef smile\n# zsh completion for smile: smile completion zsh > _smile, in a folder of fpath\n";
  text += "_smile() {\n  local -a commands\n  commands=(\n";
  const auto describe = [&](const ManualCommand& command) {
    return in_quotes(command.name + ":" + bracketed(command.text));
  };
  for (const ManualCommand& command : program.below) text += "    " + describe(command) + "\n";
  text += "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n";
  text += "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const ManualCommand& command : program.below) {
    text += "    " + command.name + ")\n      _arguments";
    for (const ManualOption& option : command.options)
      for (const std::string& word : option.words) {
        std::string spec = (option.takes_key ? "*" : "") + word + "[" + bracketed(option.text) + "]";
        if (option.takes_key)
          spec += ":key:(" + keys_text() + ")";
        else if (!option.value.empty())
          spec += ":" + bracketed(option.value) + ":_files";
        text += " \\\n        " + in_quotes(spec);
      }
    if (command.below.empty()) {
      text += " \\\n        '*:file:_files'";
    } else {
      text += " \\\n        " + in_quotes("1:what:(" + words_of(command) + ")");
    }
    text += "\n      ;;\n";
  }
  return text + "  esac\n}\ncompdef _smile smile\n";
}

std::string fish(const ManualCommand& program) {
  std::string text = "# fish completion for smile: smile completion fish | source\n";
  for (const ManualCommand& command : program.below) {
    text += "complete -c smile -n __fish_use_subcommand -f -a " + command.name + " -d " +
            in_quotes(command.text) + "\n";
    const std::string when = " -n " + in_quotes("__fish_seen_subcommand_from " + command.name);
    for (const ManualCommand& below : command.below)
      text += "complete -c smile" + when + " -f -a " + below.name + " -d " + in_quotes(below.text) + "\n";
    for (const ManualOption& option : command.options) {
      if (option.words.empty()) continue;
      text += "complete -c smile" + when;
      for (const std::string& word : option.words)
        text += word.starts_with("--") ? " -l " + word.substr(2) : " -s " + word.substr(1);
      if (!option.value.empty()) text += " -r";
      if (option.takes_key) text += " -f -a " + in_quotes(keys_text());
      text += " -d " + in_quotes(option.text) + "\n";
    }
  }
  return text;
}

}  // namespace

const std::vector<Shell>& shells() {
  static const std::vector<Shell> all{{"bash", "source <(smile completion bash)", bash},
                                      {"zsh", "smile completion zsh > _smile, in a folder of fpath", zsh},
                                      {"fish", "smile completion fish | source", fish}};
  return all;
}

}  // namespace smile::program

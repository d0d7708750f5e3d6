// SPDX-License-Identifier: Apache-2.0
/// Every piece of advice that a message gives is followed, and the complaint must be gone: the run is checked
/// without a word, or with another one.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include "../pipeline/program.hpp"

namespace smile {
namespace {

using test::Outcome;
using test::smile;
using test::TemporaryFolder;
using Words = std::vector<std::string>;

/// What to do where the words do not say it to a program: a phrase of the advice, and the settings it means.
struct Reading {
  const char* phrase;
  Words settings;
};

/// A configuration that is refused.
struct Case {
  const char* name;
  Words settings;         ///< on top of the small configuration
  const char* complaint;  ///< part of the message
  std::vector<Reading> readings = {};
  const char* table = nullptr;  ///< the data, of which "x" and "y" are columns; absent: a good table
  const char* file = "data.csv";
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

std::string good_table() {
  std::string text = "x,z,y\n";
  for (int i = 0; i < 120; ++i)
    text += std::to_string(i % 7) + "," + std::to_string((i * i) % 11) + "," +
            std::to_string(i % 7 + 0.1 * (i % 3)) + "\n";
  return text;
}

/// `row` stands somewhere in a table that is otherwise good.
std::string table_with(const std::string& row, const std::string& head = "x,z,y\n", char delimiter = ',') {
  std::string text = head;
  for (int i = 0; i < 120; ++i) {
    if (i == 7) text += row + "\n";
    text += std::to_string(i % 7) + delimiter + std::to_string((i * i) % 11) + delimiter +
            std::to_string(i % 7 + i % 3) + "\n";
  }
  return text;
}

std::string small(const std::string& data) {
  return "data: {path: " + data +
         ", task: regr, target_column: y}\nmodel: {hidden_structure: [4, 2]}\ntraining:\n"
         "  warmstart: {max_epochs: 2, batch_size: 16}\n"
         "  sampler: {n_chains: 1, warmup_steps: 20, n_samples: 40, batch_size: 16}\n";
}

const std::set<std::string>& known_keys() {
  static const std::set<std::string> keys = [] {
    std::set<std::string> out;
    const std::string text = smile({"list", "keys"}).out;
    const std::regex key("^([a-z0-9_]+(\\.[a-z0-9_]+)*)", std::regex::multiline);
    for (std::sregex_iterator it(text.begin(), text.end(), key), end; it != end; ++it) out.insert((*it)[1]);
    return out;
  }();
  return keys;
}

/// The path of a key that the advice names in full or by its end; empty where there is no such key.
std::string path_of(const std::string& name, const std::string& place) {
  const auto& keys = known_keys();
  if (keys.contains(name)) return name;
  for (std::string section = place; !section.empty();) {  // near the place first
    const auto dot = section.rfind('.');
    section = dot == std::string::npos ? "" : section.substr(0, dot);
    if (!section.empty() && keys.contains(section + "." + name)) return section + "." + name;
  }
  std::string found;
  for (const std::string& key : keys)
    if (key.ends_with("." + name)) found = found.empty() ? key : "twice";
  return found == "twice" ? "" : found;
}

Words matches(const std::string& text, const char* pattern,
              const std::function<std::string(const std::smatch&)>& f) {
  Words out;
  const std::regex expression(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it)
    out.push_back(f(*it));
  return out;
}

/// Settings that an advice says in words that need no reading: "key: value", "write `value`".
std::vector<Words> alternatives_of(const std::string& mend, const std::string& place) {
  std::vector<Words> out;
  for (const std::string& setting :
       matches(mend, "(\\b(?!allowed\\b)[a-z_]+(?:\\.[a-z_]+)*): `?(\\[[^\\]]*\\]|[a-z0-9_.-]*[a-z0-9])",
               [&](const std::smatch& m) {
                 const std::string path = path_of(m[1], place);
                 EXPECT_NE(path, "") << "there is no key " << m[1] << ": " << mend;
                 return path + "=" + std::string(m[2]);
               }))
    out.push_back({setting});
  for (const std::string& value :
       matches(mend, "write (?:at most |at least )?`?([a-z0-9_.]*[a-z0-9])`?(?:$|,| or)",
               [](const std::smatch& m) { return std::string(m[1]); }))
    if (!known_keys().contains(value)) out.push_back({place + "=" + value});
  return out;
}

class Advice : public testing::TestWithParam<Case> {};

TEST_P(Advice, IsFollowedAndTheComplaintIsGone) {
  const Case& c = GetParam();
  TemporaryFolder folder;
  const auto data = folder.write(c.file, c.table ? c.table : good_table());
  const auto config = folder.write("config.yaml", small(data));
  const auto check = [&](const Words& more) {
    Words words = {"check", config};
    const auto is_replaced = [&](const std::string& setting) {
      const std::string key = setting.substr(0, setting.find('=') + 1);
      return std::any_of(more.begin(), more.end(), [&](const auto& m) { return m.starts_with(key); });
    };
    for (const std::string& setting : c.settings)
      if (!is_replaced(setting)) words.insert(words.end(), {"--set", setting});
    for (const std::string& setting : more) words.insert(words.end(), {"--set", setting});
    return smile(words);
  };
  const Outcome refused = check({});
  ASSERT_EQ(refused.status, 2) << refused.out << refused.error;
  std::string line = refused.error.substr(refused.error.rfind("error: "));
  line.pop_back();
  if (line.find("-DSMILE_WITH_TORCH=ON") != std::string::npos) GTEST_SKIP() << "needs LibTorch";
  ASSERT_NE(line.find(c.complaint), std::string::npos) << line;
  const auto at = line.find("; ", line.find(c.complaint));
  ASSERT_NE(at, std::string::npos) << line;
  const std::string mend = line.substr(at + 2);
  std::smatch key;
  std::string place;
  for (const std::string& word : matches(line.substr(0, at), "[a-z_]+(\\.[a-z_]+)+",
                                         [](const std::smatch& m) { return std::string(m[0]); }))
    if (place.empty() && known_keys().contains(word)) place = word;
  auto alternatives = alternatives_of(mend, place);
  for (const Reading& reading : c.readings) {
    EXPECT_NE(mend.find(reading.phrase), std::string::npos)
        << "not advised: " << reading.phrase << ": " << mend;
    alternatives.push_back(reading.settings);
  }
  EXPECT_FALSE(alternatives.empty()) << "advice that cannot be followed: " << mend;
  for (const Words& settings : alternatives) {
    const Outcome after = check(settings);
    EXPECT_EQ(after.error.find(c.complaint), std::string::npos)
        << mend << "\nfollowed by " << testing::PrintToString(settings) << ":\n"
        << after.error;
    EXPECT_EQ(after.error.find("there is no key"), std::string::npos) << after.error;
  }
}

const std::string kSampler = "training.sampler.";
const std::string kOptimizer = "training.warmstart.optimizer_config.";

INSTANTIATE_TEST_SUITE_P(
    Configurations, Advice,
    testing::Values(
        Case{"rule_of_another_sampler",
             {"training.sampler.name=psmile-auto", "training.sampler.step_size_rule=energy"},
             "is not the rule of",
             {{"or the sampler psmile", {"training.sampler.name=psmile"}}}},
        Case{"schedule_beside_a_rule",
             {"training.sampler.name=psmile", "training.sampler.scheduler_config_warm.name=cosine"},
             "cannot both set the step size"},
        Case{"turning_angle_without_batches",
             {"training.sampler.batch_size=null"},
             "needs the noise of mini-batches",
             {{"give a batch_size", {"training.sampler.batch_size=16"}},
              {"use the sampler mclmc", {"training.sampler.name=mclmc"}}}},
        Case{"csgld_without_cycles",
             {"training.sampler.name=csgld", "training.sampler.scheduler_config_samp.name=none"},
             "needs a cyclic schedule",
             {{"use the sampler sgld", {"training.sampler.name=sgld"}}}},
        Case{"more_cycles_than_steps",
             {"training.sampler.name=csgld", "training.sampler.scheduler_config_samp.n_cycles=500"},
             "cycles do not fit"},
        Case{"a_language_task_for_a_table",
             {"data.task=class_multilabel", "data.data_type=tabular"},
             "do not go together",
             {{"tables with regr", {"data.task=regr"}}}},
        Case{"regression_of_images",
             {"data.data_type=image"},
             "is for tables",
             {{"write class for images", {"data.task=class"}}}},
        Case{"torchscript_without_a_file",
             {"model.model=torchscript"},
             "the TorchScript file is not given",
             {{"add model.path", {"model.path=nowhere.pt"}}}},
        Case{"a_network_of_images_for_a_table",
             {"model.model=LeNet"},
             "takes images",
             {{"the model FCN", {"model.model=FCN"}}}},
        Case{"a_network_of_texts_for_a_table",
             {"model.model=GPT"},
             "do not go together",
             {{"texts need GPT", {"data.data_type=text", "data.task=class_multilabel"}}}},
        Case{"rows_of_numbers_of_images",
             {"data.data_type=image", "data.task=class", "data.flatten=false"},
             "takes rows of numbers"},
        Case{"the_native_engine_on_a_gpu", {"device=cuda"}, "computes on the CPU"},
        Case{"two_outputs_for_a_mean",
             {"data.task=mean_regr"},
             "has one output",
             {{"let the list end with 1", {"model.hidden_structure=[4, 1]"}}}},
        Case{"one_output_for_mean_and_spread",
             {"model.hidden_structure=[4, 1]"},
             "has two outputs",
             {{"let the list end with 2", {"model.hidden_structure=[4, 2]"}}}},
        Case{"one_output_for_classes",
             {"data.task=class", "model.hidden_structure=[4, 1]"},
             "need an output each",
             {{"the number of classes", {"model.hidden_structure=[4, 7]"}}}},
        Case{"a_schedule_without_its_parameters",
             {kOptimizer + "lr_schedule=linear"},
             "needs lr_schedule_parameters.init_value",
             {{"add it", {kOptimizer + "lr_schedule_parameters.init_value=0.01"}}}},
        Case{"a_warm_up_longer_than_the_decay",
             {kOptimizer + "lr_schedule=cosine_decay", kOptimizer + "lr_schedule_parameters.peak_value=0.01",
              kOptimizer + "lr_schedule_parameters.decay_steps=10",
              kOptimizer + "lr_schedule_parameters.warmup_steps=20"},
             "leave none of"},
        Case{"two_starts",
             {"training.warmstart.warmstart_files=[a.pt]", "training.warmstart.warmstart_exp_dir=elsewhere"},
             "say where the chains start",
             {{"write one of them", {"training.warmstart.warmstart_files=null"}}}},
        Case{"network_files_for_the_native_engine",
             {"training.warmstart.warmstart_files=[a.pt]"},
             "reads no network files",
             {{"leave the key out", {"training.warmstart.warmstart_files=null"}}}},
        Case{"splits_that_do_not_sum_to_one", {"data.train_split=0.5"}, "the three splits sum to"},
        Case{"more_thinning_than_samples",
             {kSampler + "n_thinning=400"},
             "is more than n_samples",
             {{"or more samples", {kSampler + "n_samples=400"}}}},
        Case{"a_burn_in_of_everything", {kSampler + "burn_in=400"}, "leaves none of"},
        Case{"a_noise_estimate_above_the_friction",
             {kSampler + "name=sghmc", kSampler + "beta_hat=0.5", kSampler + "mdecay=0.1"},
             "is more than mdecay"},
        Case{"a_misspelt_sampler",
             {kSampler + "name=sgdl"},
             "`sgdl` is not known",
             {{"did you mean `sgld`?", {kSampler + "name=sgld"}}}},
        Case{"a_misspelt_task",
             {"data.task=regres"},
             "`regres` is not known",
             {{"did you mean `regr`?", {"data.task=regr"}}}},
        Case{"a_step_that_is_no_step",
             {kSampler + "step_size=-1"},
             "is out of range",
             {{"a number > 0", {kSampler + "step_size=0.01"}}}},
        Case{"a_split_of_two",
             {"data.train_split=2"},
             "is out of range",
             {{"a number in (0, 1)", {"data.train_split=0.7"}}}},
        Case{"chains_that_are_no_number",
             {kSampler + "n_chains=x"},
             "is not an integer",
             {{"an integer in [1, 65536]", {kSampler + "n_chains=1"}}}},
        Case{"no_integration_step",
             {kSampler + "n_integration_steps=0"},
             "is out of range",
             {{"an integer in [1, 1000]", {kSampler + "n_integration_steps=3"}}}},
        Case{"no_temperature",
             {kSampler + "name=hmc", kSampler + "temperature=0"},
             "leaves no posterior",
             {{"a number above 0", {kSampler + "temperature=0.5"}}}},
        Case{"laplace_of_a_prior_that_is_no_normal",
             {kSampler + "name=laplace", kSampler + "prior_config.name=Laplace"},
             "needs a Normal prior",
             {{"choose a Normal prior", {kSampler + "prior_config.name=StandardNormal"}},
              {"`marginal_likelihood`", {kSampler + "laplace_prior=marginal_likelihood"}},
              {"`validation`", {kSampler + "laplace_prior=validation"}}}},
        Case{"a_kronecker_product_of_two_priors",
             {kSampler + "name=laplace", kSampler + "laplace_form=kronecker",
              kSampler + "prior_config.name=Glorot"},
             "takes one prior for all of a layer",
             {{"take another prior", {kSampler + "prior_config.name=StandardNormal"}},
              {"laplace_form: full", {kSampler + "laplace_form=full"}},
              {"diagonal", {kSampler + "laplace_form=diagonal"}},
              {"last_layer", {kSampler + "laplace_form=last_layer"}}}}),
    [](const auto& kind) { return std::string(kind.param.name); });

const std::string kMissing = table_with("1,,2"), kComma = table_with("1;0,5;2", "x;z;y\n", ';'),
                  kPoint = table_with("1;0.5;2", "x;z;y\n", ';'), kWord = table_with("1,north,2"),
                  kThousands = table_with("1;1,000;2", "x;z;y\n", ';'),
                  kCommasInData = table_with("3, 4, 5", "", ','),
                  kHeaderOfNumbers = table_with("1,2,3", "1,b,y\n");

INSTANTIATE_TEST_SUITE_P(
    Tables, Advice,
    testing::Values(
        Case{"a_missing_cell", {}, "missing value in column 'z'", {}, kMissing.c_str()},
        Case{"a_decimal_comma", {}, "has a decimal comma", {}, kComma.c_str()},
        Case{"a_decimal_point", {"data.decimal=comma"}, "has a decimal point", {}, kPoint.c_str()},
        Case{"decimal_commas_between_commas",
             {"data.decimal=comma", "data.delimiter=comma"},
             "cannot be told from commas"},
        Case{"separators_of_thousands", {}, "has separators of thousands", {}, kThousands.c_str()},
        Case{"a_word", {}, "is not a number", {}, kWord.c_str()},
        Case{"commas_in_a_data_file",
             {"data.target_column=2"},
             "separates the fields",
             {},
             "1, 2, 3\n4, 5, 6\n7, 8, 9\n1, 3, 4\n",
             "table.data"},
        Case{"a_header_with_a_number",
             {"data.target_column=2"},
             "'b' is not a number",
             {},
             kHeaderOfNumbers.c_str()}),
    [](const auto& kind) { return std::string(kind.param.name); });

/// A table to be predicted goes with a trained run: no advice may name a setting.
TEST(AdviceOfPredict, NamesNoSettingsThatThereAreNone) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small(folder.write("data.csv", good_table())));
  const std::string run = folder / "run";
  ASSERT_EQ(smile({"run", config, "--out", run, "--no-report", "--quiet"}).status, 0);
  for (const char* rows : {"x,z\n1,\n", "x,z\n1,north\n", "x;z\n1;0,5\n", "x;z\n1;1,000\n", "x,z,y\n1,2,\n",
                           "x,z\n1,1.0D+02\n", "x,z\n,\n"}) {
    const Outcome refused = smile({"predict", run, "--data", folder.write("new.csv", rows)});
    if (refused.status == 0) continue;  // predicted without a target
    EXPECT_TRUE(refused.is_one_line_error()) << refused.error;
    EXPECT_EQ(refused.error.find("data."), refused.error.find("data.csv")) << refused.error;
    EXPECT_EQ(refused.error.find("missing:"), std::string::npos) << refused.error;
    EXPECT_EQ(refused.error.find("categorical"), std::string::npos) << refused.error;
  }
}

/// Commands of an advice stand between backticks; they are given to a shell as they are.
Words commands_of(const std::string& text) {
  return matches(text, "`smile ([^`]*)`", [](const std::smatch& m) { return std::string(m[1]); });
}

TEST(AdviceOfRuns, IsFollowedAndTheComplaintIsGone) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small(folder.write("data.csv", good_table())));
  const std::string run = folder / "a run";
  ASSERT_EQ(smile({"run", config, "--out", run, "--no-report", "--quiet"}).status, 0);
  const Outcome again = smile({"run", config, "--out", run});
  ASSERT_EQ(again.status, 2) << again.error;
  ASSERT_NE(again.error.find("go on with it by --resume, or give another --out"), std::string::npos);
  EXPECT_EQ(smile({"run", config, "--out", run, "--resume", "--no-report"}).status, 0);
  EXPECT_EQ(smile({"run", config, "--out", folder / "other", "--no-report"}).status, 0);
  // A chain whose draws are damaged is run anew after its checkpoint is removed, as `diagnose` says.
  folder.write("a run/samples/chain-00.npy", "not an array");
  const Outcome damaged = smile({"diagnose", run});
  const auto at = damaged.out.find("remove ");
  ASSERT_NE(at, std::string::npos) << damaged.out;
  const std::string file = damaged.out.substr(at + 7, damaged.out.find(" (and ", at) - at - 7);
  EXPECT_NE(damaged.out.find(file + ".previous, where it is there"), std::string::npos) << damaged.out;
  std::filesystem::copy_file(file, file + ".previous", std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(std::filesystem::remove(file)) << file;
  std::filesystem::remove(file + ".previous");
  const auto commands = commands_of(damaged.out);
  ASSERT_EQ(commands.size(), 1u) << damaged.out;
  EXPECT_EQ(std::system((std::string(SMILE_PROGRAM) + " " + commands[0] + " >/dev/null 2>&1").c_str()), 0)
      << commands[0];
  EXPECT_EQ(smile({"diagnose", run}).out.find("damaged"), std::string::npos);
  EXPECT_EQ(smile({"diagnose", run}).out.find("remove "), std::string::npos);
}

/// Of a damaged file that the run makes again, every command says to remove it, and how it is made again.
TEST(AdviceOfRuns, OfDamagedFilesThatAreMadeAgainIsToRemoveThem) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small(folder.write("data.csv", good_table())));
  const std::filesystem::path run = folder / "a run", good = folder / "good";
  ASSERT_EQ(smile({"run", config, "--out", good, "--no-report", "--quiet"}).status, 0);
  int told = 0;
  for (const char* name :
       {"network.json", "parameters.json", "dataset_splits.npz", "warmstart/member-00.npy"})
    for (const Words& words : std::vector<Words>{{"run", config, "--out", run, "--resume", "--no-report"},
                                                 {"evaluate", run},
                                                 {"predict", run, "--data", folder / "data.csv"}}) {
      std::filesystem::remove_all(run);
      std::filesystem::copy(good, run, std::filesystem::copy_options::recursive);
      const std::string sound = test::content_of(run / name);
      std::ofstream(run / name) << "{bad";
      const Outcome refused = smile(words);
      if (refused.status == 0) continue;  // does not need it
      ++told;
      EXPECT_NE(refused.error.find((run / name).string()), std::string::npos) << refused.error;
      EXPECT_NE(refused.error.find("; remove the file, and "), std::string::npos) << refused.error;
      const auto commands = commands_of(refused.error);
      ASSERT_EQ(commands.size(), 1u) << refused.error;
      std::filesystem::remove(run / name);
      EXPECT_EQ(std::system((std::string(SMILE_PROGRAM) + " " + commands[0] + " >/dev/null 2>&1").c_str()), 0)
          << commands[0];
      EXPECT_TRUE(test::content_of(run / name) == sound) << name << " is another one";
      EXPECT_EQ(smile(words).status, 0);
    }
  EXPECT_GE(told, 8);
}

/// A run as a process leaves it that was killed before the evaluation: every command that is printed goes.
TEST(AdviceOfRuns, OfAKilledRunAreCommandsThatGo) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small(folder.write("data.csv", good_table())));
  const std::string run = folder / "it's a run";
  const auto make = [&] {
    std::filesystem::remove_all(run);
    ASSERT_EQ(smile({"run", config, "--out", run, "--no-report", "--quiet"}).status, 0);
    std::string status = test::content_of(std::filesystem::path(run) / "status.json");
    status.replace(status.find("complete"), 8, "running");
    std::ofstream(std::filesystem::path(run) / "status.json") << status;
    std::filesystem::remove_all(std::filesystem::path(run) / "eval");
  };
  make();
  EXPECT_NE(smile({"diagnose", run}).out.find("(killed)"), std::string::npos) << smile({"diagnose", run}).out;
  EXPECT_NE(smile({"status", run}).out.find("killed during"), std::string::npos);
  const auto data = folder / "data.csv";
  const std::vector<Words> refused = {{"report", run},
                                      {"status", run},
                                      {"predict", run, "--data", data},
                                      {"export", run, "--format", "csv", "--out", folder / "x.csv"}};
  for (const Words& words : refused) {
    make();
    const Outcome told = smile(words);
    for (const std::string& command : commands_of(told.out + told.error)) {
      if (command.starts_with("status")) continue;
      make();
      const int status =
          std::system((std::string(SMILE_PROGRAM) + " " + command + " >/dev/null 2>&1").c_str());
      EXPECT_EQ(status, 0) << command;
      EXPECT_EQ(smile(words).status, 0) << smile(words).error;
    }
    EXPECT_TRUE(told.status == 0 || !commands_of(told.out + told.error).empty()) << told.error;
  }
}

}  // namespace
}  // namespace smile

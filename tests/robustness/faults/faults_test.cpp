// SPDX-License-Identifier: Apache-2.0
/// Every command with one call to the operating system failing: a full disk, a broken one, a limit, a signal,
/// half a write. For each: no crash, no hanging; one line and the right status, or the work done as if
/// nothing had been; nothing wrong under a right name; and the way on leads to the same bytes.
/// SMILE_FAULTS_ALL tries every call, else a sample of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "../../end_to_end/machines/many.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;

/// What may befall a call.
const std::vector<std::pair<std::string, std::vector<std::string>>>& kinds() {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> all = {
      {"write", {"ENOSPC", "EIO", "EINTR", "short", "+ENOSPC"}},
      {"fsync", {"EIO", "ENOSPC", "EINTR"}},
      {"rename", {"ENOSPC", "EIO", "EACCES"}},
      {"open", {"EMFILE", "EIO", "EINTR", "+EMFILE"}},
      {"mmap", {"ENOMEM"}},
      {"lock", {"ENOLCK", "EINTR"}},
      {"truncate", {"EIO", "ENOSPC", "EINTR"}},
      {"close", {"EIO", "EINTR"}},
      {"read", {"EIO", "EINTR", "short"}},
      {"mkdir", {"ENOSPC", "EACCES"}},
      {"link", {"EIO"}}};
  return all;
}

/// Of how many calls one is tried where not all are.
constexpr long kSampled = 48;

bool try_all() {
  return std::getenv("SMILE_FAULTS_ALL") != nullptr;
}

Outcome with_fault(const std::vector<std::string>& command, const std::string& fault) {
  return smile(command, [&] {
    ::setenv("LD_PRELOAD", SMILE_TEST_FAULTS, 1);
    ::setenv("SMILE_FAULT", fault.c_str(), 1);
    ::alarm(60);  // what hangs is ended by SIGALRM
  });
}

std::map<std::string, long> calls_of(const std::vector<std::string>& command) {
  const TemporaryFolder folder;
  const std::string file = (folder / "counts").string();
  const Outcome outcome = smile(command, [&] {
    ::setenv("LD_PRELOAD", SMILE_TEST_FAULTS, 1);
    ::setenv("SMILE_FAULT_COUNTS", file.c_str(), 1);
  });
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  std::map<std::string, long> counts;
  std::ifstream in(file);
  std::string call;
  for (long count = 0; in >> call >> count;) counts[call] = count;
  return counts;
}

/// What is wrong with how a command ended; empty: nothing.
std::string wrong_ending(const Outcome& outcome) {
  if (outcome.status == 0)
    return outcome.error.find("error: ") == std::string::npos ? "" : "status 0 and a line of an error";
  if (outcome.status != 1 && outcome.status != 2) return "status " + std::to_string(outcome.status);
  if (!outcome.is_one_line_error()) return "not one line";
  if (outcome.error.find("error: ") != outcome.error.rfind("error: ")) return "more than one error";
  if (outcome.error.find("fault of the program") != std::string::npos) return "no cause";
  return "";
}

/// A file without what differs from one run to the next.
std::string comparable(const fs::path& file) {
  if (file.filename() == "report.html") return report_of(file.parent_path());
  // What a NetCDF file says without when it was made, which the checksums inside depend on.
  if (file.extension() == ".nc")
    return shell("ncdump -n run -p 9,17 '" + file.string() + "' | grep -v created_at").out;
  return without_times(content_of(file));
}

/// Files that appear whole or not at all. @param evaluated  the folder says that its evaluation is whole
bool is_whole_or_absent(const fs::path& relative, bool evaluated) {
  const std::string first = relative.begin()->string();
  return (first == "eval" && evaluated) || (first == "warmstart" && relative.extension() == ".npy") ||
         relative == "dataset_splits.npz" || relative == "parameters.json" || relative == "network.json" ||
         relative == "report.html";
}

/// Files whose bytes the configuration decides.
bool is_decided(const fs::path& relative) {
  const std::string first = relative.begin()->string();
  return is_whole_or_absent(relative, true) || first == "samples" || first == "trace" || first == "warmstart";
}

/// What differs between a run and the undisturbed one. @param complete  every file is to be there
std::string wrong_files(const fs::path& run, const fs::path& good, bool complete) {
  const auto state = nlohmann::json::parse(content_of(run / "status.json"), nullptr, false);
  const bool evaluated =
      fs::exists(run / "eval/metrics.json") && state.is_object() && state.value("status", "") == "complete";
  if (complete && !evaluated) return "does not count as evaluated";
  std::set<fs::path> files;
  for (const fs::path& from : complete ? std::vector{run, good} : std::vector{run})
    if (fs::is_directory(from))
      for (const auto& entry : fs::recursive_directory_iterator(from))
        if (entry.is_regular_file()) files.insert(entry.path().lexically_relative(from));
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    if (name.find(".tmp-") != std::string::npos) return "left over: " + file.string();
    if (complete && *file.begin() == "locks") return "a lock is left: " + file.string();
    if (complete ? !is_decided(file) : !is_whole_or_absent(file, evaluated)) continue;
    if (!fs::exists(run / file)) return "missing: " + file.string();
    if (!fs::exists(good / file)) return "not of this run: " + file.string();
    if (comparable(run / file) != comparable(good / file)) return "differs: " + file.string();
  }
  return "";
}

class Faults : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizer wants to be preloaded first";
#endif
    std::ostringstream table;
    for (int i = 0; i < 60; ++i) {
      const double x = std::sin(0.7 * i), y = std::cos(1.3 * i);
      table << x << ' ' << y << ' ' << x * y << '\n';
    }
    data_ = folder_.write("table.data", table.str());
    config_ = folder_.write(
        "config.yaml", "rng: 3\ndata: {path: " + data_.string() +
                           ", task: mean_regr}\nmodel: {hidden_structure: [2, 1]}\ntraining:\n  warmstart: "
                           "{max_epochs: 2, batch_size: 16}\n  sampler: {name: psmile, batch_size: 16, "
                           "n_chains: 2, warmup_steps: 8, n_samples: 8, n_thinning: 2}\n");
    const Outcome outcome = smile(run_into(good_run()));
    ASSERT_EQ(outcome.status, 0) << outcome.error;
  }
  fs::path good_run() const {
    return folder_ / "good";
  }
  /// One thread, so that the nth call is the same one each time.
  std::vector<std::string> run_into(const fs::path& run) const {
    return {"run", config_, "--out", run, "--quiet", "--threads", "1"};
  }
  std::vector<std::string> resume(const fs::path& run) const {
    auto command = run_into(run);
    command.emplace_back("--resume");
    return command;
  }

  /// Tries faults in all calls that a command makes, or a sample of them, several at a time.
  /// @param attempt  makes the attempt; what it says is wrong
  void try_faults(const std::map<std::string, long>& calls,
                  const std::function<std::string(const std::string& fault)>& attempt) {
    std::vector<std::string> faults;
    long offset = 0;
    for (const auto& [call, errors] : kinds())
      for (const std::string& error : errors) {
        const auto count = calls.find(call);
        const long last = count == calls.end() ? 0 : count->second;
        const long step = try_all() ? 1 : kSampled;
        // Another sample of each kind, the first call and the last always among them.
        offset = (offset + 7) % kSampled;
        for (long n = 1; n <= last; ++n) {
          if (step > 1 && n != 1 && n != last && n % step != offset) continue;
          faults.push_back(call + ":" + std::to_string(n) + (error[0] == '+' ? "+:" : ":") +
                           (error[0] == '+' ? error.substr(1) : error));
        }
      }
    std::atomic<std::size_t> next{0}, violations{0};
    std::mutex mutex;
    std::vector<std::thread> workers;
    for (int w = 0; w < 4; ++w)
      workers.emplace_back([&] {
        for (std::size_t i; (i = next++) < faults.size();) {
          const std::string wrong = attempt(faults[i]);
          if (wrong.empty()) continue;
          const std::lock_guard lock(mutex);
          if (++violations <= 40) ADD_FAILURE() << faults[i] << ": " << wrong;
        }
      });
    for (auto& worker : workers) worker.join();
    std::printf("%zu faults tried, %zu violations\n", faults.size(), violations.load());
    RecordProperty("faults", int(faults.size()));
    EXPECT_GT(faults.size(), 15U);
    EXPECT_EQ(violations, 0U);
  }

  /// A command that makes one file of a run.
  void try_output(const std::string& name, const std::function<std::vector<std::string>(fs::path)>& command) {
    const fs::path good = folder_ / ("good-" + name);
    const auto calls = calls_of(command(good));
    try_faults(calls, [&](const std::string& fault) -> std::string {
      const TemporaryFolder folder;
      const fs::path out = folder / name;
      const Outcome outcome = with_fault(command(out), fault);
      if (const auto wrong = wrong_ending(outcome); !wrong.empty()) return wrong + ": " + outcome.error;
      for (const auto& entry : fs::directory_iterator(folder.path()))
        if (entry.path() != out) return "left over: " + entry.path().string();
      if (outcome.status == 0 && !fs::exists(out)) return "status 0 and no file";
      if (fs::exists(out) && comparable(out) != comparable(good))
        return "a wrong file, status " + std::to_string(outcome.status) + ": " + outcome.error;
      const Outcome again = smile(command(out));
      if (again.status != 0 || comparable(out) != comparable(good)) return "no way on: " + again.error;
      return "";
    });
    EXPECT_EQ(wrong_files(good_run(), good_run(), true), "");
  }

  TemporaryFolder folder_;
  fs::path data_, config_;
};

TEST_F(Faults, OfARun) {
  try_faults(calls_of(run_into(folder_ / "counted")), [&](const std::string& fault) -> std::string {
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const Outcome outcome = with_fault(run_into(run), fault);
    if (const auto wrong = wrong_ending(outcome); !wrong.empty()) return wrong + ": " + outcome.error;
    const std::string ended = ", after status " + std::to_string(outcome.status) + ": " + outcome.error;
    if (const auto wrong = wrong_files(run, good_run(), outcome.status == 0); !wrong.empty())
      return wrong + ended;
    const bool begun = fs::exists(run / "config.yaml");
    const Outcome again = smile(begun ? resume(run) : run_into(run));
    if (again.status != 0)
      return "no way on: status " + std::to_string(again.status) + " " + again.error + ended;
    if (const auto wrong = wrong_files(run, good_run(), true); !wrong.empty())
      return wrong + ", gone on" + ended;
    return "";
  });
}

TEST_F(Faults, OfAnEvaluation) {
  const auto command = [](const fs::path& run) {
    return std::vector<std::string>{"evaluate", run, "--quiet"};
  };
  fs::copy(good_run(), folder_ / "counted", fs::copy_options::recursive);
  try_faults(calls_of(command(folder_ / "counted")), [&](const std::string& fault) -> std::string {
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    fs::copy(good_run(), run, fs::copy_options::recursive);
    const Outcome outcome = with_fault(command(run), fault);
    if (const auto wrong = wrong_ending(outcome); !wrong.empty()) return wrong + ": " + outcome.error;
    if (const auto wrong = wrong_files(run, good_run(), false); !wrong.empty())
      return wrong + ", after status " + std::to_string(outcome.status) + ": " + outcome.error;
    const Outcome again = smile(command(run));
    if (again.status != 0) return "no way on: " + again.error + ", after " + outcome.error;
    return wrong_files(run, good_run(), true);
  });
}

TEST_F(Faults, OfAMerge) {
  for (const char* part : {"0", "1"}) {
    auto command = run_into(folder_ / part);
    command.insert(command.end(), {"--chains", part});
    ASSERT_EQ(smile(command).status, 0);
  }
  const auto command = [this](const fs::path& run) {
    return std::vector<std::string>{"merge", folder_ / "0", folder_ / "1", "--out", run, "--quiet"};
  };
  try_faults(calls_of(command(folder_ / "counted")), [&](const std::string& fault) -> std::string {
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const Outcome outcome = with_fault(command(run), fault);
    if (const auto wrong = wrong_ending(outcome); !wrong.empty()) return wrong + ": " + outcome.error;
    if (const auto wrong = wrong_files(run, folder_ / "counted", outcome.status == 0); !wrong.empty())
      return wrong + ", after status " + std::to_string(outcome.status) + ": " + outcome.error;
    if (outcome.status == 0) return "";
    // Half a merge is begun anew, or, where it says so, gone on with.
    fs::remove_all(run);
    const Outcome again = smile(command(run));
    if (again.status != 0) return "no way on: " + again.error + ", after " + outcome.error;
    return wrong_files(run, folder_ / "counted", true);
  });
}

TEST_F(Faults, OfExports) {
  for (const std::string format : {"npz", "csv"})
    try_output("draws." + format, [&](const fs::path& out) {
      return std::vector<std::string>{"export", good_run(), "--format", format, "--out", out};
    });
}

#ifdef SMILE_WITH_NETCDF
TEST_F(Faults, OfAnExportForArviZ) {
  if (!has_command("ncdump")) GTEST_SKIP() << "ncdump is not installed";
  try_output("draws.nc", [&](const fs::path& out) {
    return std::vector<std::string>{"export", good_run(), "--format", "netcdf", "--out", out};
  });
}
#endif

TEST_F(Faults, OfPredictions) {
  for (const char* name : {"p.csv", "p.npy"})
    try_output(name, [&](const fs::path& out) {
      return std::vector<std::string>{"predict", good_run(), "--data", data_, "--out", out};
    });
}

TEST_F(Faults, OfAReport) {
  const auto command = [](const fs::path& run, const fs::path& out) {
    return std::vector<std::string>{"report", run, "--out", out};
  };
  const auto written = [this](const fs::path& html) {
    const TemporaryFolder folder;
    fs::copy(html, folder / "report.html");
    return report_of(folder.path());
  };
  const auto calls = calls_of(command(good_run(), folder_ / "good.html"));
  try_faults(calls, [&](const std::string& fault) -> std::string {
    const TemporaryFolder folder;
    const fs::path out = folder / "r.html";
    const Outcome outcome = with_fault(command(good_run(), out), fault);
    if (const auto wrong = wrong_ending(outcome); !wrong.empty()) return wrong + ": " + outcome.error;
    if (outcome.status == 0 && !fs::exists(out)) return "status 0 and no file";
    if (fs::exists(out) && written(out) != written(folder_ / "good.html"))
      return "a wrong file, status " + std::to_string(outcome.status) + ": " + outcome.error;
    return "";
  });
}

}  // namespace
}  // namespace smile::test

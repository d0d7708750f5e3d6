// SPDX-License-Identifier: Apache-2.0
#include "netcdf/netcdf_file.hpp"

#include <dlfcn.h>
#include <netcdf.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "files/file_error.hpp"
#include "smile/error.hpp"

namespace smile::netcdf {
namespace {

void check(int status, const std::filesystem::path& path) {
  if (status == NC_NOERR) return;
  if (status > 0) throw data::write_error(path, "cannot write the file", status);  // errno
  // What HDF5 says of a full disk is "HDF error".
  throw Error(path.string(), std::string("cannot write the file (") + nc_strerror(status) + ")",
              "check the disk's free space, or choose another file with --out", ErrorKind::run);
}

nc_type type_of(Type type) {
  switch (type) {
    case Type::float32:
      return NC_FLOAT;
    case Type::float64:
      return NC_DOUBLE;
    case Type::int64:
      return NC_INT64;
    case Type::int8:
      break;
  }
  return NC_BYTE;
}

/// HDF5 1.10 tries once more when the process ends to write what could not be written, and crashes where that
/// fails again (a disk that stays full). netCDF has no option for it and hides HDF5, so that the function is
/// looked up.
void leave_unwritten_files_alone() {
  using Function = int (*)();
  static const bool done = [] {
    const auto forget = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, "H5dont_atexit"));
    return forget && forget() >= 0;
  }();
  static_cast<void>(done);
}

/// Whether the close succeeds in a copy of this process, which may crash. Writes what the close is going to
/// write.
bool can_be_closed(int id) {
  const pid_t child = ::fork();
  if (child < 0) return true;  // it cannot be tried
  if (child == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    std::signal(SIGSEGV, SIG_DFL);
    ::_exit(nc_close(id) == NC_NOERR ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

void Variable::put(const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
                   std::span<const float> values) const {
  check(nc_put_vara_float(group_, id_, start.data(), count.data(), values.data()), *path_);
}
void Variable::put(const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
                   std::span<const double> values) const {
  check(nc_put_vara_double(group_, id_, start.data(), count.data(), values.data()), *path_);
}
void Variable::put(const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
                   std::span<const std::int64_t> values) const {
  static_assert(sizeof(long long) == sizeof(std::int64_t));
  check(nc_put_vara_longlong(group_, id_, start.data(), count.data(),
                             reinterpret_cast<const long long*>(values.data())),
        *path_);
}
void Variable::put(const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
                   std::span<const signed char> values) const {
  check(nc_put_vara_schar(group_, id_, start.data(), count.data(), values.data()), *path_);
}
void Variable::attribute(const std::string& name, const std::string& value) const {
  check(nc_put_att_text(group_, id_, name.c_str(), value.size(), value.data()), *path_);
}

Dimension Group::dimension(const std::string& name, std::size_t length) const {
  Dimension dimension{0, length};
  check(nc_def_dim(id_, name.c_str(), length, &dimension.id), *path_);
  return dimension;
}

Variable Group::variable(const std::string& name, Type type, const std::vector<Dimension>& dimensions) const {
  std::vector<int> ids;
  for (const Dimension& dimension : dimensions) ids.push_back(dimension.id);
  int id = 0;
  check(nc_def_var(id_, name.c_str(), type_of(type), int(ids.size()), ids.data(), &id), *path_);
  if (!ids.empty()) check(nc_def_var_chunking(id_, id, NC_CONTIGUOUS, nullptr), *path_);
  check(nc_def_var_fill(id_, id, NC_NOFILL, nullptr), *path_);
  return {path_, id_, id};
}

Dimension Group::coordinate(const std::string& name, std::span<const std::int64_t> values) const {
  const Dimension result = dimension(name, values.size());
  variable(name, Type::int64, {result}).put({0}, {values.size()}, values);
  return result;
}

void Group::attribute(const std::string& name, const std::string& value) const {
  check(nc_put_att_text(id_, NC_GLOBAL, name.c_str(), value.size(), value.data()), *path_);
}

File::File(std::filesystem::path path) : path_(std::move(path)), file_(path_) {
  leave_unwritten_files_alone();
  check(nc_create(file_.temporary().c_str(), NC_NETCDF4 | NC_CLOBBER, &id_), path_);
}

// A file that could not be written stays open until the process ends: closing it, netCDF 4.9 would try again,
// and where that fails too it looks at what is half closed and crashes.
File::~File() = default;

Group File::group(const std::string& name) const {
  int id = 0;
  check(nc_def_grp(id_, name.c_str(), &id), path_);
  return {&path_, id};
}

void File::commit() {
  // For the same reason all but the mark of a closed file is written before the close, and that is tried
  // first.
  check(nc_sync(id_), path_);
  if (!can_be_closed(id_)) throw data::write_error(path_, "cannot write the file", EIO);
  check(nc_close(std::exchange(id_, -1)), path_);
  file_.commit();
}

}  // namespace smile::netcdf

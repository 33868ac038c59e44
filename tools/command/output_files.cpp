#include "output_files.hpp"

#include "error.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace simdattn::command {
namespace {

namespace fs = std::filesystem;

// Where the file itself lies, so that a symbolic link is written through and not replaced.
std::string final_place(const std::string& name, const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) throw InputError(name + ": is a directory, must be a file");
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw InputError(name + ": is not a regular file");
  const fs::path place = fs::weakly_canonical(fs::absolute(path), error);
  if (error) throw InputError(name + ": " + error.message());
  return place.string();
}

} // namespace

OutputFiles::~OutputFiles() {
  if (committed_) return;
  for (const std::unique_ptr<File>& file : files_) {
    std::error_code ignored;
    fs::remove(file->moved ? file->path : file->temporary, ignored);
  }
}

std::ostream& OutputFiles::open(const std::string& option, const std::string& path) {
  auto file = std::make_unique<File>();
  file->name = option + " " + path;
  file->path = final_place(file->name, path);
  file->temporary = file->path + "." + std::to_string(::getpid()) + ".tmp";
  for (const std::unique_ptr<File>& other : files_) {
    if (other->path == file->path)
      throw InputError(file->name + ": is the same file as " + other->name);
  }
  file->stream.open(file->temporary, std::ios::binary | std::ios::trunc);
  if (!file->stream) throw InputError(file->name + ": can't be written: " + std::strerror(errno));
  files_.push_back(std::move(file));
  return files_.back()->stream;
}

void OutputFiles::commit() {
  for (const std::unique_ptr<File>& file : files_) {
    file->stream.close();
    if (!file->stream) throw InputError(file->name + ": can't be written: " + std::strerror(errno));
  }
  for (const std::unique_ptr<File>& file : files_) {
    std::error_code error;
    fs::rename(file->temporary, file->path, error);
    if (error) throw InputError(file->name + ": can't be written: " + error.message());
    file->moved = true;
  }
  committed_ = true;
}

} // namespace simdattn::command

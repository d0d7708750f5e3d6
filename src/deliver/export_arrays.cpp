// SPDX-License-Identifier: Apache-2.0
/// One array [chain, draw, shape…] for each tensor of the network: npz, safetensors, torch; and CSV.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "deliver/export_draws.hpp"
#include "deliver/torch_pickle.hpp"
#include "files/npy_header.hpp"
#include "files/zip_writer.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"

namespace smile::experiment {
namespace {

namespace fs = std::filesystem;

/// Shape of all draws of a tensor; without chains and draws that of one.
std::vector<std::size_t> shape_of(const ParameterGroup& group, const ExportDraws* draws) {
  std::vector<std::size_t> shape;
  if (draws) shape = {draws->chains(), draws->draws()};
  shape.insert(shape.end(), group.shape.begin(), group.shape.end());
  return shape;
}

/// Writes every tensor's part of the draws to its own region of the file. Each region is filled from its
/// beginning to its end, so that checksums can be taken on the way.
void scatter(const ExportDraws& draws, const ExportOptions& options, AtomicFile& file,
             const std::vector<std::uint64_t>& regions, data::ZipWriter* zip = nullptr,
             const std::vector<std::size_t>& entries = {}) {
  const auto& groups = draws.layout().groups;
  const std::size_t d = draws.dimension();
  std::vector<float> part;
  draws.for_each_block(
      options, [&](std::size_t chain, std::size_t first, std::size_t count, std::span<const float> values) {
        for (std::size_t g = 0; g < groups.size(); ++g) {
          const std::size_t size = groups[g].size();
          part.resize(count * size);
          for (std::size_t i = 0; i < count; ++i) {
            const auto from = values.subspan(i * d + groups[g].offset, size);
            std::copy(from.begin(), from.end(), part.begin() + std::ptrdiff_t(i * size));
          }
          const std::uint64_t place = (chain * draws.draws() + first) * size * sizeof(float);
          file.write_at(regions[g] + place, std::as_bytes(std::span(part)));
          if (zip) zip->checksum(entries[g], part.data(), part.size() * sizeof(float));
        }
      });
}

/// [chain, shape…] of a tensor that is the same in all draws of a chain.
std::vector<std::size_t> frozen_shape(const ParameterGroup& group, const ExportDraws& draws) {
  std::vector<std::size_t> shape{draws.chains()};
  shape.insert(shape.end(), group.shape.begin(), group.shape.end());
  return shape;
}

/// Writes the frozen tensors, chain after chain, to their regions.
void write_frozen(const ExportDraws& draws, AtomicFile& file, std::span<const std::uint64_t> regions,
                  data::ZipWriter* zip = nullptr, std::span<const std::size_t> entries = {}) {
  const auto& groups = draws.frozen().groups;
  for (std::size_t chain = 0; chain < draws.chains() && !groups.empty(); ++chain) {
    const std::vector<float> values = draws.frozen_values(chain);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto part = std::span(values).subspan(groups[g].offset, groups[g].size());
      file.write_at(regions[g] + chain * part.size_bytes(), std::as_bytes(part));
      if (zip) zip->checksum(entries[g], part.data(), part.size_bytes());
    }
  }
}

/// 8 bytes of length, then JSON: name → type, shape, place. Returns the header and the regions' places.
/// @source the safetensors format
std::string safetensors_header(const ExportDraws& draws, bool stacked, std::vector<std::uint64_t>& regions) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}, {"dims", stacked ? "chain, draw, shape" : "shape"}};
  std::uint64_t at = 0;
  regions.clear();
  for (const ParameterGroup& group : draws.layout().groups) {
    const std::uint64_t bytes = group.size() * sizeof(float) * (stacked ? draws.chains() * draws.draws() : 1);
    header[group.name] = {{"dtype", "F32"},
                          {"shape", shape_of(group, stacked ? &draws : nullptr)},
                          {"data_offsets", {at, at + bytes}}};
    regions.push_back(at);
    at += bytes;
  }
  for (const ParameterGroup& group : draws.frozen().groups) {
    const std::uint64_t bytes = group.size() * sizeof(float) * draws.chains();
    header[group.name] = {
        {"dtype", "F32"}, {"shape", frozen_shape(group, draws)}, {"data_offsets", {at, at + bytes}}};
    regions.push_back(at);
    at += bytes;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string out;
  for (unsigned shift = 0; shift < 64; shift += 8) out += char((std::uint64_t(text.size()) >> shift) & 0xff);
  out += text;
  for (auto& region : regions) region += out.size();
  return out;
}

void make_folder(const fs::path& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure)
    throw Error(path.string(), "cannot make the folder (" + failure.message() + ")",
                "choose a folder you may write to with --out", ErrorKind::run);
  if (!fs::is_empty(path, failure))
    throw Error(path.string(), "the folder is not empty", "give an empty or a new folder with --out");
}

/// One file a draw, "chain-00-draw-000017.ENDING"; draws are numbered as in the run's file of draws.
void write_each(const ExportDraws& draws, const ExportOptions& options, const fs::path& folder,
                const char* ending,
                const std::function<void(const fs::path&, std::span<const float>)>& write) {
  make_folder(folder);
  draws.for_each_block(
      options, [&](std::size_t chain, std::size_t first, std::size_t count, std::span<const float> values) {
        for (std::size_t i = 0; i < count; ++i)
          write(folder / fmt::format("chain-{:02}-draw-{:06}.{}", draws.number(chain), draws.place(first + i),
                                     ending),
                values.subspan(i * draws.dimension(), draws.dimension()));
      });
}

std::string indexed(const std::string& name, const std::vector<std::size_t>& shape, std::size_t flat) {
  std::vector<std::size_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; flat /= shape[axis]) index[axis] = flat % shape[axis];
  return fmt::format("{}[{}]", name, fmt::join(index, ","));
}

}  // namespace

void export_npz(const ExportDraws& draws, const ExportOptions& options, const fs::path& path,
                std::vector<std::string>&) {
  AtomicFile file(path);
  data::ZipWriter zip(file);
  std::vector<std::uint64_t> regions;
  std::vector<std::size_t> entries;
  for (const ParameterGroup& group : draws.layout().groups) {
    data::NpyHeader header;
    header.type = NpyType::float32;
    header.shape = shape_of(group, &draws);
    const std::string head = data::format_npy_header(header);
    entries.push_back(zip.entries());
    regions.push_back(zip.reserve(group.name + ".npy", head.size() + header.data_bytes(path.string()), head));
  }
  for (const ParameterGroup& group : draws.frozen().groups) {
    data::NpyHeader header;
    header.type = NpyType::float32;
    header.shape = frozen_shape(group, draws);
    const std::string head = data::format_npy_header(header);
    entries.push_back(zip.entries());
    regions.push_back(zip.reserve(group.name + ".npy", head.size() + header.data_bytes(path.string()), head));
  }
  const std::size_t sampled = draws.layout().groups.size();
  scatter(draws, options, file, regions, &zip, entries);
  write_frozen(draws, file, std::span(regions).subspan(sampled), &zip, std::span(entries).subspan(sampled));
  zip.finish();
  file.commit();
}

void export_safetensors(const ExportDraws& draws, const ExportOptions& options, const fs::path& path,
                        std::vector<std::string>&) {
  std::vector<std::uint64_t> regions;
  const std::string header = safetensors_header(draws, !options.per_draw, regions);
  if (options.per_draw)
    return write_each(draws, options, path, "safetensors",
                      [&](const fs::path& name, std::span<const float> values) {
                        AtomicFile file(name);
                        file.write(header);
                        file.write(std::as_bytes(values));  // the tensors lie in a draw as in the file
                        file.commit();
                      });
  AtomicFile file(path);
  file.write_at(0, header);
  scatter(draws, options, file, regions);
  write_frozen(draws, file, std::span(regions).subspan(draws.layout().groups.size()));
  file.commit();
}

void export_torch(const ExportDraws& draws, const ExportOptions& options, const fs::path& path,
                  std::vector<std::string>&) {
  std::vector<TorchTensor> tensors;
  for (const ParameterGroup& group : draws.layout().groups)
    tensors.push_back({torch_name(group.name), shape_of(group, options.per_draw ? nullptr : &draws)});
  for (const ParameterGroup& group : draws.frozen().groups)
    tensors.push_back({torch_name(group.name), frozen_shape(group, draws)});
  if (options.per_draw)
    return write_each(draws, options, path, "pt", [&](const fs::path& name, std::span<const float> values) {
      AtomicFile file(name);
      data::ZipWriter zip(file);
      TorchEntries entries = reserve_torch_file(zip, tensors);
      for (std::size_t g = 0; g < tensors.size(); ++g) {
        const ParameterGroup& group = draws.layout().groups[g];
        const auto part = values.subspan(group.offset, group.size());
        file.write_at(entries.places[g], std::as_bytes(part));
        zip.checksum(entries.numbers[g], part.data(), part.size_bytes());
      }
      zip.finish();
      file.commit();
    });
  AtomicFile file(path);
  data::ZipWriter zip(file);
  const TorchEntries entries = reserve_torch_file(zip, tensors);
  scatter(draws, options, file, entries.places, &zip, entries.numbers);
  const std::size_t sampled = draws.layout().groups.size();
  write_frozen(draws, file, std::span(entries.places).subspan(sampled), &zip,
               std::span(entries.numbers).subspan(sampled));
  zip.finish();
  file.commit();
}

void export_csv(const ExportDraws& draws, const ExportOptions& options, const fs::path& path,
                std::vector<std::string>&) {
  AtomicFile file(path);
  std::string text = "chain,draw";
  for (const ParameterGroup& group : draws.layout().groups)
    for (std::size_t i = 0; i < group.size(); ++i)
      text += group.size() == 1 ? "," + group.name : ",\"" + indexed(group.name, group.shape, i) + "\"";
  text += "\n";
  draws.for_each_block(
      options, [&](std::size_t chain, std::size_t first, std::size_t count, std::span<const float> values) {
        for (std::size_t i = 0; i < count; ++i) {
          fmt::format_to(std::back_inserter(text), "{},{}", draws.number(chain), draws.place(first + i));
          for (const float value : values.subspan(i * draws.dimension(), draws.dimension()))
            fmt::format_to(std::back_inserter(text), ",{}", value);  // shortest that reads back the same
          text += '\n';
          if (text.size() < (std::size_t{1} << 20)) continue;
          file.write(text);
          text.clear();
        }
      });
  file.write(text);
  file.commit();
}

}  // namespace smile::experiment

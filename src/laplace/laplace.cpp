// SPDX-License-Identifier: Apache-2.0
#include "smile/laplace/laplace.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "smile/error.hpp"
#include "smile/network/row_jacobians.hpp"

namespace smile {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigensolver = Eigen::SelfAdjointEigenSolver<Matrix>;

/// τ is looked for in [e⁻¹⁰, e¹⁰].
constexpr double kLogFactorRange = 10;

/// S with Λ = S Sᵀ, Λ = E[−∂² log p(y | f)/∂f²] at the outputs f. @return @shape [outputs, columns]
Matrix root_of_output_curvature(Task task, std::span<const double> outputs, double log_sigma) {
  if (task == Task::mean_regression) return Matrix::Constant(1, 1, std::exp(-log_sigma));
  if (task == Task::regression)
    return Vector{{std::exp(-outputs[1]), std::numbers::sqrt2}}.asDiagonal().toDenseMatrix();
  // diag(p) − p pᵀ = (diag √p − p √pᵀ)(diag √p − p √pᵀ)ᵀ
  Vector p = Eigen::Map<const Vector>(outputs.data(), Index(outputs.size()));
  p = (p.array() - p.maxCoeff()).exp();
  p /= p.sum();
  const Vector root = p.cwiseSqrt();
  Matrix s = -p * root.transpose();
  s.diagonal() += root;
  return s;
}

/// Part of θ whose curvature is known in a basis of its own.
struct Block {
  std::vector<std::uint32_t> places;  ///< among the moving parameters
  Vector eigenvalues;                 ///< λ ≥ 0 of P^−½ (Σ JᵀΛJ) P^−½, in the basis
  Matrix basis;                       ///< V; empty: the identity, or
  Matrix units, inputs;  ///< V = units ⊗ inputs, over [units, inputs (, 1 for the bias)] row by row

  Vector to_basis(const Vector& v) const { return turned(v, true); }
  Vector from_basis(const Vector& v) const { return turned(v, false); }

 private:
  Vector turned(const Vector& v, bool into) const {
    if (basis.size() > 0) return into ? Vector(basis.transpose() * v) : Vector(basis * v);
    if (units.size() == 0) return v;
    const Eigen::Map<const RowMatrix> m(v.data(), units.rows(), inputs.rows());
    const RowMatrix turned =
        into ? RowMatrix(units.transpose() * m * inputs) : RowMatrix(units * m * inputs.transpose());
    return Eigen::Map<const Vector>(turned.data(), v.size());
  }
};

/// Second moments of a dense layer.
struct Factors {
  Matrix inputs, units;
};

}  // namespace

struct LaplacePosterior::State {
  const Network& network;
  Task task;
  HostVector<float> mode;             // whole
  std::vector<std::uint32_t> moving;  // places in θ
  LaplaceOptions options;
  Vector centre, scale;  // of the prior, of the moving parameters: location, standard deviation
  std::vector<Block> blocks;
  double factor = 1, log_likelihood = 0;

  bool has_log_sigma() const { return task == Task::mean_regression; }
  std::size_t d() const { return mode.size(); }
  double log_sigma() const { return double(mode[d() - 1]); }
  /// Whether the last of the moving parameters is log σ.
  bool log_sigma_moves() const { return has_log_sigma() && moving.back() + 1 == d(); }
  double value(std::size_t i) const { return double(mode[moving[i]]); }

  void take_prior(const Prior& prior) {
    const Index n = Index(moving.size());
    centre = Vector::Zero(n), scale = Vector::Ones(n);
    if (const auto normals = prior.normals()) {
      for (Index i = 0; i < n; ++i) {
        scale[i] = 1 / std::sqrt(normals->precision[std::size_t(i)]);
        centre[i] = normals->mean[std::size_t(i)];
      }
    } else if (options.prior == LaplacePrior::configured) {
      throw Error("training.sampler.laplace_prior",
                  "the Laplace approximation needs a Normal prior's precision",
                  "choose a Normal prior, or `marginal_likelihood` or `validation`, which scale N(0, 1)");
    }
  }

  /// Calls `with` with J of the moving parameters, P^−½ in it, and the outputs, for each point.
  template <class With>
  void for_each_point(Part part, const With& with) const {
    const auto jacobians = network.row_jacobians();
    jacobians->start(mode);
    const std::size_t outputs = network.outputs();
    std::vector<double> f(outputs), whole(outputs * d());
    RowMatrix scaled(Index(outputs), Index(moving.size()));
    for (std::size_t point = 0; point < network.points(part); ++point) {
      jacobians->at(part, point, f, whole);
      for (std::size_t c = 0; c < outputs; ++c)
        for (std::size_t i = 0; i < moving.size(); ++i)
          scaled(Index(c), Index(i)) = whole[c * d() + moving[i]] * scale[Index(i)];
      with(std::span<const double>(f), scaled, jacobians->layers());
    }
  }

  /// Curvature of log σ, whose rows have 2 each. @param i  its place among the moving parameters
  double log_sigma_curvature(std::size_t i) const {
    return 2 * double(network.points(Part::train)) * scale[Index(i)] * scale[Index(i)];
  }

  void add_diagonal(std::vector<std::uint32_t> places) {
    Block block{std::move(places), {}, {}, {}, {}};
    block.eigenvalues = Vector::Zero(Index(block.places.size()));
    for_each_point(Part::train, [&](auto f, const RowMatrix& j, auto) {
      const Matrix root = root_of_output_curvature(task, f, log_sigma()).transpose() * j;
      for (std::size_t i = 0; i < block.places.size(); ++i)
        block.eigenvalues[Index(i)] += root.col(block.places[i]).squaredNorm();
    });
    if (log_sigma_moves() && block.places.back() + 1 == moving.size())
      block.eigenvalues[block.eigenvalues.size() - 1] = log_sigma_curvature(moving.size() - 1);
    blocks.push_back(std::move(block));
  }

  void add_dense(std::vector<std::uint32_t> places) {
    const Index n = Index(places.size());
    constexpr Index kRows = 256;
    Matrix curvature = Matrix::Zero(n, n), rows(n, kRows);
    Index filled = 0;
    const auto flush = [&] {
      curvature.selfadjointView<Eigen::Lower>().rankUpdate(rows.leftCols(filled));
      filled = 0;
    };
    for_each_point(Part::train, [&](auto f, const RowMatrix& j, auto) {
      const Matrix root = root_of_output_curvature(task, f, log_sigma()).transpose() * j;
      for (Index k = 0; k < root.rows(); ++k) {
        if (filled == kRows) flush();
        for (Index i = 0; i < n; ++i) rows(i, filled) = root(k, Index(places[std::size_t(i)]));
        ++filled;
      }
    });
    flush();
    if (log_sigma_moves() && places.back() + 1 == moving.size())
      curvature(n - 1, n - 1) = log_sigma_curvature(moving.size() - 1);
    const Eigensolver solver(curvature);  // reads the lower triangle
    blocks.push_back({std::move(places), solver.eigenvalues().cwiseMax(0), solver.eigenvectors(), {}, {}});
  }

  /// H of a layer ≈ (Σ_n a aᵀ / N) ⊗ Σ_n δᵀ Λ δ, a its inputs (and 1 for the bias), δ as in DenseTrace.
  void add_layers() {
    std::vector<Factors> factors;
    std::vector<DenseTrace> shape;
    for_each_point(Part::train, [&](auto f, const RowMatrix&, std::span<const DenseTrace> layers) {
      if (factors.empty()) {
        shape.assign(layers.begin(), layers.end());
        for (const DenseTrace& layer : layers) {
          const Index in = Index(layer.inputs.size()) + layer.has_bias,
                      out = Index(layer.deltas.size() / f.size());
          factors.push_back({Matrix::Zero(in, in), Matrix::Zero(out, out)});
        }
      }
      const Matrix root = root_of_output_curvature(task, f, log_sigma());
      for (std::size_t l = 0; l < layers.size(); ++l) {
        Vector a = Vector::Ones(factors[l].inputs.rows());
        std::copy(layers[l].inputs.begin(), layers[l].inputs.end(), a.data());
        const Eigen::Map<const RowMatrix> delta(layers[l].deltas.data(), Index(f.size()),
                                                factors[l].units.rows());
        factors[l].inputs += a * a.transpose();
        const Matrix back = delta.transpose() * root;
        factors[l].units += back * back.transpose();
      }
    });
    const double n = double(network.points(Part::train));
    for (std::size_t l = 0; l < factors.size(); ++l) {
      const Eigensolver inputs(Matrix(factors[l].inputs / n)), units(factors[l].units);
      Block block{places_of(shape[l], factors[l]), {}, {}, units.eigenvectors(), inputs.eigenvectors()};
      const double s = scale[block.places.front()];
      block.eigenvalues.resize(Index(block.places.size()));
      for (Index j = 0; j < units.eigenvalues().size(); ++j)
        for (Index k = 0; k < inputs.eigenvalues().size(); ++k)
          block.eigenvalues[j * inputs.eigenvalues().size() + k] =
              s * s * std::max(0.0, units.eigenvalues()[j]) * std::max(0.0, inputs.eigenvalues()[k]);
      blocks.push_back(std::move(block));
    }
    if (log_sigma_moves()) {
      Block block{{std::uint32_t(moving.size() - 1)}, Vector(1), {}, {}, {}};
      block.eigenvalues[0] = log_sigma_curvature(moving.size() - 1);
      blocks.push_back(std::move(block));
    }
  }

  /// Units by inputs and bias, row by row; all of them move and have one prior.
  std::vector<std::uint32_t> places_of(const DenseTrace& layer, const Factors& factors) const {
    std::vector<std::uint32_t> places;
    const std::size_t units = std::size_t(factors.units.rows()), inputs = layer.inputs.size();
    for (std::size_t j = 0; j < units; ++j) {
      for (std::size_t k = 0; k < inputs; ++k) places.push_back(std::uint32_t(layer.weight + j * inputs + k));
      if (layer.has_bias) places.push_back(std::uint32_t(layer.bias + j));
    }
    for (const std::uint32_t place : places)
      if (std::abs(scale[place] / scale[places.front()] - 1) > 1e-6)
        throw Error("training.sampler.laplace_form",
                    "a Kronecker product takes one prior for all of a layer, and weights and biases have two",
                    "take another prior, or laplace_form: full, diagonal or last_layer");
    return places;
  }

  std::vector<std::uint32_t> last_layer() const {
    const auto& groups = network.layout().groups;
    std::size_t last = groups.size();
    while (last-- > 0)
      if (groups[last].name != "log_sigma") break;
    std::vector<std::uint32_t> places;
    for (std::size_t i = 0; i < moving.size(); ++i)
      for (const ParameterGroup& group : groups)
        if (moving[i] >= group.offset && moving[i] < group.offset + group.size() &&
            (layer_of(group) == layer_of(groups[last]) || group.name == "log_sigma"))
          places.push_back(std::uint32_t(i));
    return places;
  }

  void find_curvature() {
    std::vector<std::uint32_t> all(moving.size());
    std::iota(all.begin(), all.end(), 0U);
    switch (options.form) {
      case LaplaceForm::full:
        return add_dense(std::move(all));
      case LaplaceForm::diagonal:
        return add_diagonal(std::move(all));
      case LaplaceForm::last_layer:
        return add_dense(last_layer());
      case LaplaceForm::kronecker:
        return add_layers();
    }
  }

  /// log p(D | θ*) + log N(θ*; centre, (τ P)⁻¹) − ½ log det(H/2π), without what τ does not change.
  double log_marginal_likelihood(double tau) const {
    double sum = log_likelihood;
    for (const Block& block : blocks) {
      sum -= 0.5 * (block.eigenvalues.array() / tau + 1).log().sum();
      for (const std::uint32_t i : block.places) {
        const double z = (value(i) - centre[Index(i)]) / scale[Index(i)];
        sum -= 0.5 * tau * z * z;
      }
    }
    return sum;
  }

  /// (J Σ Jᵀ)_cc, J with P^−½ in it. Of each block Σ_k (Vᵀ J_c)_k² T/(λ_k + τ).
  struct Squares {
    std::vector<Vector> of_block;  // (Vᵀ J_c)², c after c
  };
  Squares squares(const RowMatrix& j) const {
    Squares s;
    for (Index c = 0; c < j.rows(); ++c)
      for (const Block& block : blocks) {
        Vector v(Index(block.places.size()));
        for (std::size_t i = 0; i < block.places.size(); ++i) v[Index(i)] = j(c, Index(block.places[i]));
        s.of_block.push_back(block.to_basis(v).cwiseAbs2());
      }
    return s;
  }
  double variance(const Squares& s, std::size_t c, double tau) const {
    double sum = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b)
      sum += (s.of_block[c * blocks.size() + b].array() / (blocks[b].eigenvalues.array() + tau)).sum();
    return options.temperature * sum;
  }
  /// The linearised predictive of a point. @param out  (mean, log sd) or logits
  void predictive(std::span<const double> f, const Squares& s, double tau, std::span<double> out) const {
    if (is_regression()) {
      const double noise = std::exp(2 * (has_log_sigma() ? log_sigma() : f[1]));
      out[0] = f[0], out[1] = 0.5 * std::log(noise + variance(s, 0, tau));
      return;
    }
    for (std::size_t c = 0; c < f.size(); ++c)
      out[c] = f[c] / std::sqrt(1 + std::numbers::pi / 8 * variance(s, c, tau));
  }
  bool is_regression() const { return task == Task::regression || task == Task::mean_regression; }
  std::size_t predictive_width() const { return is_regression() ? 2 : network.outputs(); }

  static double log_score(bool regression, std::span<const double> out, double target) {
    if (regression) {
      const double z = (target - out[0]) * std::exp(-out[1]);
      return -0.5 * z * z - out[1] - 0.5 * std::log(2 * std::numbers::pi);
    }
    const double top = *std::max_element(out.begin(), out.end());
    double sum = 0;
    for (const double logit : out) sum += std::exp(logit - top);
    return out[std::size_t(target)] - top - std::log(sum);
  }

  void choose_factor(std::span<const double> valid_targets) {
    if (options.prior == LaplacePrior::marginal_likelihood) {
      factor = std::exp(boost::math::tools::brent_find_minima(
                            [&](double log_tau) { return -log_marginal_likelihood(std::exp(log_tau)); },
                            -kLogFactorRange, kLogFactorRange, 30)
                            .first);
    } else if (options.prior == LaplacePrior::validation) {
      constexpr int kPoints = 41;
      std::vector<double> scores(kPoints, 0), out(predictive_width());
      const auto tau = [](int k) { return std::exp(kLogFactorRange * (2.0 * k / (kPoints - 1) - 1)); };
      std::size_t point = 0;
      for_each_point(Part::valid, [&](auto f, const RowMatrix& j, auto) {
        const Squares s = squares(j);
        for (int k = 0; k < kPoints; ++k) {
          predictive(f, s, tau(k), out);
          scores[std::size_t(k)] += log_score(is_regression(), out, valid_targets[point]);
        }
        ++point;
      });
      factor = tau(int(std::max_element(scores.begin(), scores.end()) - scores.begin()));
    }
  }
};

std::string laplace_problem(const Network& network, Task task, const LaplaceOptions& options,
                            std::size_t moving_parameters) {
  if (task == Task::multilabel)
    return "its outputs for every token of a text are too many for their curvature";
  const auto jacobians = network.row_jacobians();
  if (!jacobians) return "the network gives no derivatives of single rows";
  if (options.form == LaplaceForm::kronecker) {
    if (moving_parameters != network.layout().size())
      return "the form kronecker needs whole layers, and some parameters are frozen";
    HostVector<float> zero(network.layout().size());
    std::vector<double> outputs(network.outputs()), jacobian(network.outputs() * zero.size());
    jacobians->start(zero);
    jacobians->at(Part::train, 0, outputs, jacobian);
    if (jacobians->layers().empty())
      return "the form kronecker is for networks of dense layers (FCN with engine native)";
  }
  if (options.form == LaplaceForm::full && moving_parameters > kMostDenseParameters)
    return "the form full holds a matrix of all pairs of its " + std::to_string(moving_parameters) +
           " parameters, and takes at most " + std::to_string(kMostDenseParameters);
  return {};
}

LaplacePosterior::LaplacePosterior(const Network& network, Task task, const HostVector<float>& mode,
                                   const Prior& prior, std::vector<std::uint32_t> moving,
                                   const LaplaceOptions& options, std::span<const double> valid_targets)
    : state_(new State{network, task, mode, std::move(moving), options, {}, {}, {}}) {
  State& s = *state_;
  if (s.moving.empty()) {
    s.moving.resize(mode.size());
    std::iota(s.moving.begin(), s.moving.end(), 0U);
  }
  if (const std::string problem = laplace_problem(network, task, options, s.moving.size()); !problem.empty())
    throw Error("training.sampler.laplace_form", problem, "take another form, or another sampler");
  if (options.prior == LaplacePrior::validation && valid_targets.empty())
    throw Error("training.sampler.laplace_prior", "there are no validation rows to choose the prior by",
                "write marginal_likelihood, or give data.valid_split rows");
  s.take_prior(prior);
  s.find_curvature();
  s.log_likelihood = network.likelihood(Part::train)->log_likelihood({}, mode);
  s.choose_factor(valid_targets);
}

LaplacePosterior::~LaplacePosterior() = default;
LaplacePosterior::LaplacePosterior(LaplacePosterior&&) noexcept = default;

void LaplacePosterior::draw(const HostVector<float>& normals, HostVector<float>& position) const {
  const State& s = *state_;
  for (std::size_t i = 0; i < s.moving.size(); ++i) position[i] = s.mode[s.moving[i]];
  for (const Block& block : s.blocks) {
    Vector z(Index(block.places.size()));
    for (std::size_t i = 0; i < block.places.size(); ++i) z[Index(i)] = double(normals[block.places[i]]);
    z.array() *= (s.options.temperature / (block.eigenvalues.array() + s.factor)).sqrt();
    const Vector away = block.from_basis(z);
    for (std::size_t i = 0; i < block.places.size(); ++i) {
      const std::uint32_t place = block.places[i];
      position[place] = float(s.value(place) + s.scale[Index(place)] * away[Index(i)]);
    }
  }
}

std::vector<double> LaplacePosterior::covariance() const {
  const State& s = *state_;
  const std::size_t n = s.moving.size();
  std::vector<double> all(n * n, 0.0);
  for (const Block& block : s.blocks)
    for (std::size_t i = 0; i < block.places.size(); ++i) {
      Vector column = Vector::Zero(Index(block.places.size()));
      column[Index(i)] = s.scale[Index(block.places[i])];
      Vector turned = block.to_basis(column);
      turned.array() *= s.options.temperature / (block.eigenvalues.array() + s.factor);
      column = block.from_basis(turned);
      for (std::size_t k = 0; k < block.places.size(); ++k)
        all[block.places[k] * n + block.places[i]] = s.scale[Index(block.places[k])] * column[Index(k)];
    }
  return all;
}

void LaplacePosterior::predict(Part part, std::vector<float>& outputs) const {
  const State& s = *state_;
  std::vector<double> out(s.predictive_width());
  outputs.clear();
  s.for_each_point(part, [&](auto f, const RowMatrix& j, auto) {
    s.predictive(f, s.squares(j), s.factor, out);
    outputs.insert(outputs.end(), out.begin(), out.end());
  });
}

double LaplacePosterior::prior_factor() const {
  return state_->factor;
}
double LaplacePosterior::log_marginal_likelihood() const {
  return state_->log_marginal_likelihood(state_->factor);
}

}  // namespace smile

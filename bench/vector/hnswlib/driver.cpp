// Drives hnswlib for the comparison: it speaks the protocol of serve.go.
//
//   c++ -O3 -march=native -std=c++17 -pthread -I DIR hnswlib.cpp
//
// where DIR/hnswlib/hnswlib.h is hnswlib's.
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "hnswlib/hnswlib.h"

namespace {

constexpr size_t kM = 16;
constexpr size_t kEfConstruction = 200;

// Matrix is the rows of a mapped .fvecs file, see fvecs.go.
struct Matrix {
  const char *data = nullptr;
  size_t rows = 0;
  int32_t dim = 0;

  Matrix(const char *path, size_t limit) {
    int fd = open(path, O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) throw std::runtime_error(std::string("cannot open ") + path);
    data = static_cast<const char *>(mmap(nullptr, st.st_size, PROT_READ, MAP_SHARED, fd, 0));
    if (data == MAP_FAILED) throw std::runtime_error(std::string("cannot map ") + path);
    std::memcpy(&dim, data, sizeof dim);
    rows = std::min(limit, static_cast<size_t>(st.st_size) / width());
  }
  size_t width() const { return (dim + 1) * sizeof(float); }
  const void *row(size_t i) const { return data + i * width() + sizeof(float); }
};

double seconds(const timeval &t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

double cpu() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

double wall() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

size_t anonymous() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssAnon:", 0) == 0) return std::stoul(line.substr(8)) * 1024;
  }
  return 0;
}

struct Driver {
  Matrix base, queries;
  hnswlib::InnerProductSpace space;
  std::unique_ptr<hnswlib::HierarchicalNSW<float>> graph;
  std::unique_ptr<hnswlib::BruteforceSearch<float>> all;

  Driver(const char *b, const char *q, size_t limit) : base(b, limit), queries(q, SIZE_MAX), space(base.dim) {}

  void build(size_t threads) {
    graph = std::make_unique<hnswlib::HierarchicalNSW<float>>(&space, base.rows, kM, kEfConstruction);
    std::atomic<size_t> next{0};
    auto work = [&] {
      for (size_t i; (i = next++) < base.rows;) graph->addPoint(base.row(i), i);
    };
    std::vector<std::thread> others;
    for (size_t t = 1; t < threads; t++) others.emplace_back(work);
    work();
    for (auto &t : others) t.join();
  }

  void load() {
    if (all) return;
    all = std::make_unique<hnswlib::BruteforceSearch<float>>(&space, base.rows);
    for (size_t i = 0; i < base.rows; i++) all->addPoint(base.row(i), i);
  }

  // search writes the ids of k hits for each of n queries.
  template <class Index>
  void search(Index &index, size_t n, size_t k, std::vector<uint32_t> &ids) {
    ids.assign(n * k, UINT32_MAX);
    for (size_t q = 0; q < n; q++) {
      auto hits = index.searchKnn(queries.row(q), k);
      for (size_t i = hits.size(); i-- > 0; hits.pop()) ids[q * k + i] = static_cast<uint32_t>(hits.top().second);
    }
  }
};

void save(const std::string &path, const std::vector<uint32_t> &ids) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(ids.data()), ids.size() * sizeof(uint32_t));
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: hnswlib BASE.fvecs QUERIES.fvecs LIMIT\n");
    return 2;
  }
  Driver d(argv[1], argv[2], std::stoul(argv[3]));
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string verb, path;
    size_t a = 0, n = 0, k = 0;
    in >> verb >> a >> n >> k >> path;
    n = std::min(n, d.queries.rows);
    std::vector<uint32_t> ids;
    if (verb == "search") d.graph->setEf(a == 0 ? 10 : a);
    if (verb == "exact") d.load();
    size_t before = anonymous();
    double cpu0 = cpu(), wall0 = wall();
    if (verb == "build") {
      d.build(a);
    } else if (verb == "search") {
      d.search(*d.graph, n, k, ids);
    } else if (verb == "exact") {
      d.search(*d.all, n, k, ids);
    }
    double cpu1 = cpu(), wall1 = wall();
    if (verb == "build") malloc_trim(0);
    if (!path.empty()) save(path, ids);
    std::printf("{\"cpu\":%.9f,\"wall\":%.9f,\"bytes\":%ld}\n", cpu1 - cpu0, wall1 - wall0,
                static_cast<long>(anonymous()) - static_cast<long>(before));
    std::fflush(stdout);
  }
}

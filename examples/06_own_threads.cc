// 6. Lend the library your own threads: it starts none of its own, and the bits stay the same.
#include <convgrad/convgrad.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

using namespace convgrad;

// Stands for your own pool: `count` threads that take the next index until there is none.
struct MyThreads {
  int count = 3;
  std::atomic<std::int64_t> indices_run{0};

  static void run(void* context, std::int64_t count, ParallelFor::Body body, void* state) {
    auto& mine = *static_cast<MyThreads*>(context);
    std::atomic<std::int64_t> next{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < mine.count; ++t) {
      threads.emplace_back([&] {
        for (std::int64_t i = next++; i < count; i = next++) {
          body(state, i);
          ++mine.indices_run;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();  // all calls have returned: the one promise to keep
  }
};

int main() {
  Tensor x = Tensor::zeros(DType::f32, {8, 20, 20, 16}).value(),
         dy = Tensor::zeros(DType::f32, {8, 20, 20, 32}).value();
  int at = 0;
  for (float& value : x.as<float>()) value = float((at += 7) % 23) * 0.3f;
  for (float& value : dy.as<float>()) value = float((at += 5) % 19) * 0.7f;

  ConvOptions options{.padding = Padding::same()};
  const Tensor pooled = conv2d_backprop_filter(x, Shape{3, 3, 16, 32}, dy, options).value();

  MyThreads mine;
  options.policy.threads = mine.count;  // not one a core: there may be but one
  options.policy.parallel_for = {MyThreads::run, &mine};
  const Tensor lent = conv2d_backprop_filter(x, Shape{3, 3, 16, 32}, dy, options).value();

  std::printf("%ld units of work on 3 lent threads\n", long(mine.indices_run));
  const bool same = std::memcmp(pooled.data(), lent.data(), static_cast<std::size_t>(lent.bytes())) == 0;
  std::printf("the result has %s bits as with the library's own threads\n", same ? "the same" : "OTHER");
  return same && mine.indices_run > 0 ? 0 : 1;
}

// What ends `strew run` while outputs are being written leaves no temporary file and no output. The first output is a file; the second is a
// FIFO, whose opening waits for a reader: there the program stands still and the test sends the signal.
#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/support/cli.h"

namespace strew::testing {
namespace {

using ::testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(STREW_SANITIZED)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class Signals : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    OnnxModel model = tensor_scatter_model();
    model.outputs.push_back(model.outputs[0]);
    write("pair.onnx", model.bytes());
    ASSERT_EQ(mkfifo(path("z.npy").c_str(), 0600), 0);
  }

  /// The program, once its first output has a temporary file; 0 when that never came.
  pid_t start() const {
    const std::string program = test::built_program("strew"), folder = folder_.string();
    const pid_t child = fork();
    if (child == 0) {
      for (const int signal : {SIGINT, SIGQUIT})
        std::signal(signal, SIG_DFL);  // a shell's background job ignores them, and so would the program
      if (chdir(folder.c_str()) != 0) _exit(126);
      execl(program.c_str(), program.c_str(), "run", "pair.onnx", "--backend", "reference", "--input", "past.npy", "update.npy",
            "indices.npy", "--output", "y.npy", "z.npy", nullptr);
      _exit(127);
    }
    for (int i = 0; i < 6000 && !has_temporary(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(has_temporary());
    return child;
  }
};

TEST_F(Signals, ThatEndTheProgramLeaveNothing) {
  if (kSanitized) GTEST_SKIP() << "sanitizers answer some signals themselves, and later";
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGUSR1, SIGSEGV}) {
    const pid_t child = start();
    ASSERT_GT(child, 0);
    EXPECT_EQ(kill(child, signal), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << "it ended by signal " << signal << ": " << status;
    EXPECT_FALSE(has_temporary()) << signal;
    EXPECT_FALSE(exists("y.npy")) << signal;
  }
}

TEST_F(Signals, AReaderLetsItGoOn) {
  const pid_t child = start();
  const int reader = open(path("z.npy").c_str(), O_RDONLY);
  int status = -1;
  char bytes[4096];
  while (::read(reader, bytes, sizeof bytes) > 0) {
  }
  close(reader);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(exists("y.npy"));
  EXPECT_FALSE(has_temporary());
}

TEST_F(Signals, IgnoredOnesStayIgnored) {
  if (kSanitized) GTEST_SKIP() << "sanitizers answer some signals themselves, and later";
  std::signal(SIGHUP, SIG_IGN);  // as nohup does; the child inherits it
  const pid_t child = start();
  std::signal(SIGHUP, SIG_DFL);
  EXPECT_EQ(kill(child, SIGHUP), 0);
  EXPECT_EQ(kill(child, SIGTERM), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

TEST_F(Signals, AFileSizeLimitIsAnErrorOfTheWrite) {
  write("big.strew",
        "strew1.scatter(operand=f32[200000] indices=i32[2] updates=f32[2] inserted_window_dims=[0] "
        "scatter_dims_to_operand_dims=[0] index_vector_dim=1)");
  write_tensor("table.npy", DType::f32, {200000}, "");
  write_tensor("at.npy", DType::i32, {2}, "");
  write_tensor("ones.npy", DType::f32, {2}, "");
  EXPECT_THAT(failure(1, "run big.strew --backend reference --input table.npy at.npy ones.npy --output y.npy", "ulimit -f 64;"),
              HasSubstr("y.npy: cannot write: File too large"));
}

}  // namespace
}  // namespace strew::testing

using Rookery.Hosting;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>The report of an exception that ends a thread of the node.</summary>
public sealed class FatalFailureTests
{
    private readonly RecordedLog _log = new();

    // The exit codes with which the process would have ended.
    private readonly List<int> _exits = [];

    [Fact]
    public void A_thread_that_gets_no_memory_is_named_and_the_process_ends_with_the_documented_code()
    {
        new FatalFailure(_log, _exits.Add).Report("indexing", new InsufficientMemoryException());
        Assert.StartsWith(
            "The node ends, because its thread \"indexing\" has no memory: give the node more with --memory",
            Assert.Single(_log.Lines),
            StringComparison.Ordinal
        );
        Assert.Equal([ExitCode.Failure], _exits);
    }

    [Fact]
    public void Any_other_exception_is_logged_and_left_to_the_runtime()
    {
        new FatalFailure(_log, _exits.Add).Report("maintenance", new InvalidOperationException("Two flushes."));
        Assert.Contains(
            "failed through a fault of the program: Two flushes.",
            Assert.Single(_log.Lines),
            StringComparison.Ordinal
        );
        Assert.Empty(_exits);
    }
}

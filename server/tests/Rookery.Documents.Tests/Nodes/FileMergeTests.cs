using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>A merge of all files, whose steps the test does.</summary>
public sealed class FileMergeTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new();
    private readonly SteppedNode _node;

    public FileMergeTests() => _node = SteppedNode.Open(_disk, "/data/node", _time);

    public void Dispose() => _node.Dispose();

    /// <summary>Merges pause while the machine is hot. The last failure then stays without another attempt.</summary>
    [Fact]
    public async Task A_merge_that_failed_once_goes_on_after_a_pause_of_merges()
    {
        _node.CreateDatabase("db");
        for (int run = 0; run < 2; run++)
        {
            _node.Put("db", $"users/{run}", "{}");
            _node.Flush();
        }

        _disk.Inject(
            new DiskFault(AtCall: 1, Errno.NoSpace)
            {
                Calls = DiskCalls.Create | DiskCalls.Write,
                PathContains = ".run",
            }
        );
        var merge = new FileMerge(_node.Core).RunAsync(CancellationToken.None);
        while (_node.Core.Storage.FailureCount == 0)
        {
            await StepAsync();
        }

        Assert.StartsWith("A merge failed", _node.Core.Storage.Failure, StringComparison.Ordinal);
        _node.Core.Background.Pacer.Share = 0;
        for (int checks = 0; checks < 10 && !merge.IsCompleted; )
        {
            checks += await StepAsync() ? 1 : 0;
        }

        Assert.False(merge.IsCompleted, merge.Exception?.Message);
        _node.Core.Background.Pacer.Share = 1;
        while (!merge.IsCompleted)
        {
            await StepAsync();
        }

        await merge;
        Assert.All(_node.Core.Storage.Statistics().Groups, static group => Assert.Equal(1, group.SortedRuns));
    }

    // Returns whether there was a step to do. A check of the merge is one.
    private async Task<bool> StepAsync()
    {
        _time.Advance(TimeSpan.FromSeconds(1));
        bool done = _node.Core.Background.DoStep();
        if (!done)
        {
            await Task.Delay(1); // until the next check is queued
        }

        return done;
    }
}

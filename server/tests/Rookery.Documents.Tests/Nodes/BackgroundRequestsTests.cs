using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>Work that other threads queue for the background thread of a node.</summary>
public sealed class BackgroundRequestsTests
{
    [Fact]
    public async Task Queued_work_runs_in_order_and_returns_its_result()
    {
        var requests = new BackgroundRequests();
        int done = 0;
        var first = requests.AddAsync(() => ++done);
        var second = requests.AddAsync(() => ++done);
        Assert.True(requests.RunNext());
        Assert.True(requests.RunNext());
        Assert.False(requests.RunNext());
        Assert.Equal((1, 2), (await first, await second));
    }

    [Fact]
    public async Task Failed_work_fails_its_task_and_the_next_work_runs()
    {
        var requests = new BackgroundRequests();
        var fails = requests.AddAsync<int>(() => throw new DiskException("write", "/data/file", Errno.NoSpace));
        var works = requests.AddAsync(() => 1);
        Assert.True(requests.RunNext());
        Assert.True(requests.RunNext());
        await Assert.ThrowsAsync<DiskException>(() => fails);
        Assert.Equal(1, await works);
    }

    [Fact]
    public async Task Closing_fails_all_queued_work()
    {
        var requests = new BackgroundRequests();
        var before = requests.AddAsync(() => 1);
        requests.Close();
        await Assert.ThrowsAsync<IOException>(() => before);
        await Assert.ThrowsAsync<IOException>(() => requests.AddAsync(() => 1));
        Assert.False(requests.RunNext());
    }
}

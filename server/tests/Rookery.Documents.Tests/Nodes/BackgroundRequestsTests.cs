using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Documents.Tests.Nodes;

public sealed class BackgroundRequestsTests
{
    [Fact]
    public async Task What_is_asked_is_done_in_turn_and_comes_back_to_who_asked()
    {
        var requests = new BackgroundRequests();
        int done = 0;
        var first = requests.AddAsync(() => ++done);
        var second = requests.AddAsync(() => ++done);
        Assert.True(requests.DoNext());
        Assert.True(requests.DoNext());
        Assert.False(requests.DoNext());
        Assert.Equal((1, 2), (await first, await second));
    }

    [Fact]
    public async Task What_fails_is_told_to_who_asked_and_the_next_is_done()
    {
        var requests = new BackgroundRequests();
        var fails = requests.AddAsync<int>(() => throw new DiskException("write", "/data/file", Errno.NoSpace));
        var works = requests.AddAsync(() => 1);
        Assert.True(requests.DoNext());
        Assert.True(requests.DoNext());
        await Assert.ThrowsAsync<DiskException>(() => fails);
        Assert.Equal(1, await works);
    }

    [Fact]
    public async Task A_node_that_stops_leaves_nobody_waiting()
    {
        var requests = new BackgroundRequests();
        var before = requests.AddAsync(() => 1);
        requests.Close();
        await Assert.ThrowsAsync<IOException>(() => before);
        await Assert.ThrowsAsync<IOException>(() => requests.AddAsync(() => 1));
        Assert.False(requests.DoNext());
    }
}

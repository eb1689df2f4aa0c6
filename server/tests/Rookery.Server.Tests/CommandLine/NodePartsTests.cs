using Rookery.Hosting;

namespace Rookery.Server.Tests.CommandLine;

public class NodePartsTests
{
    [Fact]
    public async Task Parts_are_disposed_in_reverse_even_if_one_throws()
    {
        var ended = new List<int>();
        var parts = new NodeParts();
        parts.Add(new Part(() => ended.Add(1)));
        parts.AddAsyncDisposable(new Part(() => ended.Add(2)));
        parts.Add(new Part(() => throw new InvalidOperationException("It does not end.")));
        parts.AddAsyncDisposable(new Part(() => ended.Add(4)));
        parts.Add(new Part(() => ended.Add(5)));
        await Assert.ThrowsAsync<InvalidOperationException>(async () => await parts.DisposeAsync());
        Assert.Equal([5, 4, 2, 1], ended);
        await parts.DisposeAsync();
        Assert.Equal([5, 4, 2, 1], ended);
    }

    private sealed class Part(Action end) : IDisposable, IAsyncDisposable
    {
        public void Dispose() => end();

        public ValueTask DisposeAsync()
        {
            end();
            return ValueTask.CompletedTask;
        }
    }
}

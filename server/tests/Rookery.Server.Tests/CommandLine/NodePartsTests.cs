using Rookery.Hosting;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>The parts of a node's process, which are disposed when it ends.</summary>
public class NodePartsTests
{
    [Fact]
    public async Task Parts_are_disposed_in_reverse_order_even_if_one_throws()
    {
        var disposedParts = new List<int>();
        var parts = new NodeParts();
        parts.Add(new Part(() => disposedParts.Add(1)));
        parts.AddAsyncDisposable(new Part(() => disposedParts.Add(2)));
        parts.Add(new Part(() => throw new InvalidOperationException("It does not end.")));
        parts.AddAsyncDisposable(new Part(() => disposedParts.Add(4)));
        parts.Add(new Part(() => disposedParts.Add(5)));
        await Assert.ThrowsAsync<InvalidOperationException>(async () => await parts.DisposeAsync());
        Assert.Equal([5, 4, 2, 1], disposedParts);
        // A second disposal does nothing.
        await parts.DisposeAsync();
        Assert.Equal([5, 4, 2, 1], disposedParts);
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

namespace Rookery.Hosting;

/// <summary>
/// The parts of a node, disposed in the reverse of the order in which they were added: also when a later one could not
/// start, and each although another could not be disposed.
/// </summary>
internal sealed class NodeParts : IAsyncDisposable
{
    private readonly Stack<Func<ValueTask>> _disposals = [];

    /// <summary>Adds a part.</summary>
    /// <returns>The part.</returns>
    public T Add<T>(T part)
        where T : IDisposable
    {
        _disposals.Push(() =>
        {
            part.Dispose();
            return ValueTask.CompletedTask;
        });
        return part;
    }

    /// <summary>Adds a part that takes its time to end.</summary>
    /// <returns>The part.</returns>
    public T AddSlow<T>(T part)
        where T : IAsyncDisposable
    {
        _disposals.Push(part.DisposeAsync);
        return part;
    }

    /// <summary>Disposes the parts.</summary>
    /// <exception cref="Exception">What the last of those threw that could not be disposed.</exception>
    public async ValueTask DisposeAsync()
    {
        if (_disposals.TryPop(out var dispose))
        {
            try
            {
                await dispose();
            }
            finally
            {
                await DisposeAsync();
            }
        }
    }
}

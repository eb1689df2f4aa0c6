namespace Rookery.Hosting;

/// <summary>
/// The parts of a node. Disposes them in the reverse of the order in which they were added, also if a later part could
/// not start, and continues if the disposal of one fails.
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

    /// <summary>Adds a part that is disposed asynchronously.</summary>
    /// <returns>The part.</returns>
    public T AddSlow<T>(T part)
        where T : IAsyncDisposable
    {
        _disposals.Push(part.DisposeAsync);
        return part;
    }

    /// <summary>Disposes the parts.</summary>
    /// <exception cref="Exception">A disposal failed; the exception is that of the last one that did.</exception>
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

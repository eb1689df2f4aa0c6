namespace Rookery.Hosting;

/// <summary>
/// The started parts of a node. Disposes them in reverse order, also if a later part could not start. If the disposal
/// of a part fails, disposes the remaining ones all the same.
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
    public T AddAsyncDisposable<T>(T part)
        where T : IAsyncDisposable
    {
        _disposals.Push(part.DisposeAsync);
        return part;
    }

    /// <summary>Disposes the parts.</summary>
    /// <exception cref="Exception">A disposal failed. If several did, this is the exception of the last
    /// one.</exception>
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

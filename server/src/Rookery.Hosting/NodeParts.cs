namespace Rookery.Hosting;

/// <summary>The parts of a node that started, disposed in reverse order: also when a later one cannot start.</summary>
internal sealed class NodeParts : IAsyncDisposable
{
    private readonly Stack<object> _parts = [];

    /// <summary>Adds a part that started.</summary>
    /// <param name="part">An <see cref="IDisposable"/> or <see cref="IAsyncDisposable"/>.</param>
    /// <returns>The part.</returns>
    public T Add<T>(T part)
        where T : class
    {
        _parts.Push(part);
        return part;
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        while (_parts.TryPop(out object? part))
        {
            if (part is IAsyncDisposable slow)
            {
                await slow.DisposeAsync();
            }
            else
            {
                ((IDisposable)part).Dispose();
            }
        }
    }
}

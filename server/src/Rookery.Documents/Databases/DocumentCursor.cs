namespace Rookery.Documents;

/// <summary>Walks over documents. It re-opens its snapshot after a number of documents, so that a slow reader keeps neither memory nor files alive; each document is seen as it is when the walk reaches it.</summary>
public sealed class DocumentCursor : IDisposable
{
    /// <summary>The document at hand. Valid until the next move; not to be disposed by the caller.</summary>
    public Document Current => throw new NotSupportedException();

    /// <summary>Goes to the next document.</summary>
    /// <returns>False at the end.</returns>
    public bool MoveNext() => throw new NotSupportedException();

    /// <summary>Goes past <paramref name="count"/> documents without reading their bodies where it can.</summary>
    /// <returns>How many it went past; fewer than asked at the end.</returns>
    public long Skip(long count) => throw new NotSupportedException();

    /// <inheritdoc/>
    public void Dispose()
    {
    }
}

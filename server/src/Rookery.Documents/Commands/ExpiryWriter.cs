namespace Rookery.Documents.Commands;

/// <summary>Encodes <see cref="CommandKind.ExpireDocuments"/>.</summary>
public sealed class ExpiryWriter : IDisposable
{
    /// <summary>Begins a command.</summary>
    public ExpiryWriter(uint database) => throw new NotSupportedException();

    /// <summary>Documents so far.</summary>
    public int Count { get; }

    /// <summary>Adds a document that ends now.</summary>
    /// <param name="lowerId">Its lower-cased id.</param>
    /// <param name="etag">The version that ends; another version stays.</param>
    public void Add(ReadOnlySpan<byte> lowerId, long etag) => throw new NotSupportedException();

    /// <summary>Finishes the command; the caller owns the buffer.</summary>
    public CommandBuffer Complete() => throw new NotSupportedException();

    /// <summary>Gives the buffer back unless <see cref="Complete"/> passed it on.</summary>
    public void Dispose() => throw new NotSupportedException();
}

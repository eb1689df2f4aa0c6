using Rookery.Documents.Json;

namespace Rookery.Documents;

/// <summary>A document that was read. It keeps memory alive: dispose it when the answer is written. The default value is no document.</summary>
public struct Document : IDisposable
{
    /// <summary>The etag of the operation that wrote this version.</summary>
    public readonly long Etag => throw new NotSupportedException();

    /// <summary>Its stored bytes, read in place.</summary>
    public readonly DocumentView View => throw new NotSupportedException();

    /// <inheritdoc/>
    public void Dispose()
    {
    }
}

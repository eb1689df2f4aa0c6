using System.Collections;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>
/// The ids of documents that an index found. Each id is read from the index when it is accessed. Not thread-safe.
/// </summary>
/// <param name="documents">The documents.</param>
internal sealed class FoundIds(IReadOnlyList<ScannedDocument> documents) : IReadOnlyList<ReadOnlyMemory<byte>>
{
    /// <summary>The etag at which the index read the document whose id was accessed last.</summary>
    public long IndexedEtagOfCurrent { get; private set; }

    /// <inheritdoc/>
    public int Count => documents.Count;

    /// <inheritdoc/>
    public ReadOnlyMemory<byte> this[int index]
    {
        get
        {
            var document = documents[index];
            IndexedEtagOfCurrent = document.Etag;
            return document.Id;
        }
    }

    /// <inheritdoc/>
    public IEnumerator<ReadOnlyMemory<byte>> GetEnumerator() =>
        documents.Select(static document => document.Id).GetEnumerator();

    /// <inheritdoc/>
    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}

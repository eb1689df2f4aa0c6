using System.Collections.Concurrent;
using System.Text;
using System.Text.Json;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.Revisions;

/// <summary>One operation on the revisions of all documents: its progress, which is also its result.</summary>
/// <param name="database">Number of the operation's database.</param>
/// <param name="id">The operation's number.</param>
/// <param name="changedName">RavenDB's name for the number of changes.</param>
/// <param name="isRevert">Whether documents are reverted, so that some may be skipped.</param>
internal sealed class RevisionsOperation(uint database, long id, string changedName, bool isRevert)
    : LongOperation(database, id)
{
    private const int MaxWarnings = 100;

    private long _scannedDocuments;
    private long _scannedRevisions;
    private long _changed;
    private long _skipped;

    // The first documents that are too large, with the reason.
    private readonly ConcurrentDictionary<string, string> _warnings = new(StringComparer.Ordinal);

    /// <summary>Counts a document and the revisions that it has.</summary>
    public void AddScanned(long revisions)
    {
        Interlocked.Increment(ref _scannedDocuments);
        Interlocked.Add(ref _scannedRevisions, revisions);
    }

    /// <summary>Counts documents that were reverted, or revisions that were removed.</summary>
    public void AddChanged(long count) => Interlocked.Add(ref _changed, count);

    /// <summary>
    /// Counts a document that stays, because its version of the time is not known, or was removed meanwhile.
    /// </summary>
    public void AddSkipped() => Interlocked.Increment(ref _skipped);

    /// <summary>Counts and names a document that stays, because its change is too large for one command.</summary>
    public void AddWarning(ReadOnlySpan<byte> id, string reason)
    {
        AddSkipped();
        if (_warnings.Count < MaxWarnings)
        {
            _warnings.TryAdd(Encoding.UTF8.GetString(id), reason);
        }
    }

    /// <inheritdoc/>
    public override void WriteProgress(Utf8JsonWriter json)
    {
        json.WriteNull("Message"u8);
        json.WriteNumber("ScannedRevisions"u8, Interlocked.Read(ref _scannedRevisions));
        json.WriteNumber("ScannedDocuments"u8, Interlocked.Read(ref _scannedDocuments));
        json.WriteStartObject("Warnings"u8);
        foreach (var (id, reason) in _warnings)
        {
            json.WriteString(id, reason);
        }

        json.WriteEndObject();
        json.WriteNumber(changedName, Interlocked.Read(ref _changed));
        long skipped = Interlocked.Read(ref _skipped);
        if (isRevert || skipped != 0)
        {
            json.WriteNumber("SkippedDocuments"u8, skipped);
        }
    }

    /// <inheritdoc/>
    public override void WriteResult(Utf8JsonWriter json) => WriteProgress(json);
}

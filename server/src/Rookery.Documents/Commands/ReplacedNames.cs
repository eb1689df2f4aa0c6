using Rookery.Documents.Apply;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;
using Rookery.Storage;

namespace Rookery.Documents.Commands;

/// <summary>
/// Counts the bytes that a put of a document rewrites beside its content: the names of its counters, its list of
/// attachments, the version that becomes the row of a revision, and the reads for a new revision. By this number, a
/// stream of puts is split into commands that are not too costly to apply.
/// </summary>
/// <param name="database">The database.</param>
public sealed class ReplacedNames(Database database)
{
    /// <summary>
    /// Approximate limit of the bytes that one command of a stream rewrites. Several commands may be in one log entry,
    /// whose limit is 64 MiB.
    /// </summary>
    public const long MaxBytesOfCommand = 4 << 20;

    // The statistics are read again after this many puts. So a database without counters, attachments and revisions
    // needs no look-up for each put.
    private const int PutsBetweenStatistics = 64;

    private int _putsLeft;
    private bool _hasAny;

    /// <summary>
    /// Returns the bytes that storing a document again rewrites, with the reads for a revision; 0 if it does not exist.
    /// </summary>
    public static long BytesOf(Database database, ReadOnlySpan<byte> id)
    {
        using var reader = database.OpenReader();
        if (!reader.TryGetDocument(id, out var document))
        {
            return 0;
        }

        using (document)
        {
            return document.Length + RevisionCosts.Of(database, document.Head);
        }
    }

    /// <summary>
    /// Returns an upper bound of the bytes that are read for a revision of a document with this number of counters.
    /// </summary>
    public static long CostOfCounters(Database database, int counters) =>
        database.MayHaveRevisions ? (long)RevisionRows.BytesPerCounter * counters : 0;

    /// <summary>
    /// Returns the length of the names of counters and of the list of attachments of a stored document, with its whole
    /// length if a put keeps it as a revision, and with the reads for a new revision; 0 if the document does not exist
    /// or cannot be read.
    /// </summary>
    public long NameBytesOf(ReadOnlySpan<byte> id)
    {
        if (_putsLeft-- == 0)
        {
            _putsLeft = PutsBetweenStatistics;
            using var statistics = database.OpenReader();
            var counts = statistics.ReadStatistics();
            _hasAny = (counts.DocumentCounters | counts.Attachments.Attachments | counts.Revisions) > 0;
        }

        if (!_hasAny || id.IsEmpty)
        {
            return 0;
        }

        try
        {
            return MeasureNames(id);
        }
        catch (DamagedException)
        {
            return 0; // the proposal reads the document, too, and refuses the command
        }
    }

    private long MeasureNames(ReadOnlySpan<byte> id)
    {
        using var reader = database.OpenReader();
        if (!reader.TryGetDocument(id, out var document))
        {
            return 0;
        }

        using (document)
        {
            var head = document.Head;
            long kept = head.Revisions.IsEmpty ? 0 : document.Length;
            return kept + head.CounterNames.Length + head.Attachments.Length + RevisionCosts.Of(database, head);
        }
    }
}

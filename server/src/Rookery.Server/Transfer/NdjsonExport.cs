using System.Buffers;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery.Server.Transfer;

/// <summary>
/// Writes the documents of a database as lines of JSON, ordered by id, in the form that an import reads.
/// </summary>
public sealed class NdjsonExport : IDisposable
{
    private readonly DocumentCursor _cursor;
    private readonly byte[] _historyId;

    /// <summary>Creates an export, positioned before the first document.</summary>
    /// <param name="reader">Snapshot of the database; it must stay open until the export is disposed.</param>
    /// <param name="damageSkipped">Called for data that cannot be read and are skipped, possibly more than once for the
    /// same damage; null to end the export at damage.</param>
    public NdjsonExport(in DatabaseReader reader, Action<DamageEvent>? damageSkipped = null)
    {
        _historyId = Encoding.ASCII.GetBytes(reader.Database.HistoryId);
        _cursor = damageSkipped is null ? reader.SeekByIdPrefix([]) : reader.SeekAllReadable(damageSkipped);
    }

    /// <summary>Documents written so far.</summary>
    public long Count { get; private set; }

    /// <summary>Length of the current document in bytes.</summary>
    public long Length => _cursor.Length;

    /// <summary>Moves to the next document.</summary>
    /// <returns>False if there is none.</returns>
    public bool MoveNext() => _cursor.MoveNext();

    /// <inheritdoc cref="DocumentCursor.MoveNext(out bool)"/>
    public bool MoveNext(out bool isPresent) => _cursor.MoveNext(out isPresent);

    /// <summary>Writes the current document and a newline.</summary>
    public void Write(IBufferWriter<byte> output)
    {
        _cursor.Write(output, _historyId);
        output.Write("\n"u8);
        Count++;
    }

    /// <summary>
    /// Releases the current document. The next <see cref="MoveNext()"/> moves to the same document again.
    /// </summary>
    public void StepBack() => _cursor.StepBack();

    /// <summary>Releases the current document until the next move.</summary>
    public void Pause() => _cursor.Pause();

    /// <inheritdoc/>
    public void Dispose() => _cursor.Dispose();
}

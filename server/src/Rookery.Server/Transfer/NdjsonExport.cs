using System.Buffers;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery.Server.Transfer;

/// <summary>
/// Writes the documents of a database as lines of JSON, in the order of their ids, as an import reads them back.
/// </summary>
public sealed class NdjsonExport : IDisposable
{
    private readonly DocumentCursor _cursor;
    private readonly byte[] _historyId;

    /// <summary>An export at its beginning.</summary>
    /// <param name="reader">The database at the moment that is exported; stays open until the export was
    /// disposed.</param>
    /// <param name="passedOver">Told of what cannot be read, perhaps more than once of the same; null: damage ends the
    /// export.</param>
    public NdjsonExport(in DatabaseReader reader, Action<DamageEvent>? passedOver = null)
    {
        _historyId = Encoding.ASCII.GetBytes(reader.Database.HistoryId);
        _cursor = passedOver is null ? reader.ByIdPrefix([]) : reader.AllReadable(passedOver);
    }

    /// <summary>Documents written so far.</summary>
    public long Count { get; private set; }

    /// <summary>Bytes of the document at hand.</summary>
    public long Length => _cursor.Length;

    /// <summary>Goes to the next document.</summary>
    /// <returns>False when there is none.</returns>
    public bool MoveNext() => _cursor.MoveNext();

    /// <summary>Writes the document at hand and a newline.</summary>
    public void Write(IBufferWriter<byte> output)
    {
        _cursor.Write(output, _historyId);
        output.Write("\n"u8);
        Count++;
    }

    /// <summary>Lets go of the document at hand, which the next move meets again.</summary>
    public void StepBack() => _cursor.StepBack();

    /// <summary>Lets go of the document at hand until the next move.</summary>
    public void Pause() => _cursor.Pause();

    /// <inheritdoc/>
    public void Dispose() => _cursor.Dispose();
}

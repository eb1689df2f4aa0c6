using System.Buffers;
using System.Text;
using Rookery.Documents;
using Rookery.Documents.Json;
using Rookery.Storage;

namespace Rookery.Server;

/// <summary>Writes the documents of a database as lines of JSON, in the order of their ids, as an import reads them back.</summary>
public sealed class NdjsonExport : IDisposable
{
    private readonly DocumentCursor cursor;
    private readonly byte[] historyId;

    /// <summary>An export at its beginning.</summary>
    /// <param name="database">The database.</param>
    /// <param name="passedOver">Told of what cannot be read, perhaps more than once of the same; null: damage ends the export.</param>
    public NdjsonExport(Database database, Action<DamageEvent>? passedOver = null)
    {
        historyId = Encoding.ASCII.GetBytes(database.HistoryId);
        using var reader = database.OpenReader();
        cursor = passedOver is null ? reader.ByIdPrefix([]) : reader.AllReadable(passedOver);
    }

    /// <summary>Documents written so far.</summary>
    public long Count { get; private set; }

    /// <summary>Writes the next document and a newline.</summary>
    /// <returns>False when there was none.</returns>
    public bool WriteNext(IBufferWriter<byte> output)
    {
        if (!cursor.MoveNext())
        {
            return false;
        }

        DocumentWriter.Write(output, cursor.View, cursor.Etag, historyId);
        output.Write("\n"u8);
        Count++;
        return true;
    }

    /// <summary>Lets go of the snapshot until the next document.</summary>
    public void Pause() => cursor.Pause();

    /// <inheritdoc/>
    public void Dispose() => cursor.Dispose();
}

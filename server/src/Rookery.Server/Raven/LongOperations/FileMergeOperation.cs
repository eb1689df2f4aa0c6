using System.Text.Json;

namespace Rookery.Server.Raven.LongOperations;

/// <summary>A merge of all of the node's files.</summary>
/// <param name="id">The operation's number.</param>
/// <param name="database">Name of the database that the client named.</param>
/// <param name="bytes">Returns the present size of the files.</param>
internal sealed class FileMergeOperation(long id, string database, Func<long> bytes) : LongOperation(OfServer, id)
{
    private readonly long _before = bytes();
    private long _after;

    /// <summary>Measures the files at the end.</summary>
    public void Measure() => Volatile.Write(ref _after, bytes());

    /// <inheritdoc/>
    public override void WriteProgress(Utf8JsonWriter json)
    {
        json.WriteString(
            "Message"u8,
            $"The files of this node, which contain '{database}' and all its other databases, are merged."
        );
        json.WriteNumber("SizeBeforeCompactionInMb"u8, ToMebibytes(_before));
    }

    /// <inheritdoc/>
    public override void WriteResult(Utf8JsonWriter json)
    {
        WriteProgress(json);
        json.WriteNumber("SizeAfterCompactionInMb"u8, ToMebibytes(Volatile.Read(ref _after)));
        json.WriteNumber("BytesBefore"u8, _before);
        json.WriteNumber("BytesAfter"u8, Volatile.Read(ref _after));
    }

    private static long ToMebibytes(long size) => size >> 20;
}

using System.Buffers;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Json;

namespace Rookery.Server.Raven.Documents;

/// <summary>Writes stored documents into answers.</summary>
internal static class DocumentJson
{
    /// <summary>Writes a document as clients read it, or only its metadata.</summary>
    public static void Write(
        IBufferWriter<byte> output,
        in Document document,
        Database database,
        bool metadataOnly = false
    )
    {
        Span<byte> history = stackalloc byte[64];
        history = history[..Encoding.ASCII.GetBytes(database.HistoryId, history)];
        if (metadataOnly)
        {
            DocumentWriter.WriteMetadataOnly(output, document.Head, document.Etag, history);
        }
        else
        {
            document.Write(output, history);
        }
    }

    /// <summary>Writes the cursor's current document.</summary>
    public static void Write(
        IBufferWriter<byte> output,
        DocumentCursor cursor,
        Database database,
        bool metadataOnly = false
    )
    {
        Span<byte> history = stackalloc byte[64];
        history = history[..Encoding.ASCII.GetBytes(database.HistoryId, history)];
        if (metadataOnly)
        {
            DocumentWriter.WriteMetadataOnly(output, cursor.Head, cursor.Etag, history);
        }
        else
        {
            cursor.Write(output, history);
        }
    }

    /// <summary>Returns the collection's name as clients see it: "@empty" for documents without one.</summary>
    public static string CollectionName(string? collection) => string.IsNullOrEmpty(collection) ? "@empty" : collection;

    /// <summary>Returns a time as clients read it.</summary>
    public static string Date(long utcTicks)
    {
        Span<byte> text = stackalloc byte[WireDate.Length];
        WireDate.Write(text, utcTicks);
        return Encoding.ASCII.GetString(text);
    }
}

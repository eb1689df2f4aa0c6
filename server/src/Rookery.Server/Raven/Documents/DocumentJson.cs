using System.Buffers;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Json;

namespace Rookery.Server.Raven.Documents;

/// <summary>Writes stored documents into answers.</summary>
internal static class DocumentJson
{
    /// <summary>Writes a document as clients read it, whole or only its metadata.</summary>
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

    /// <summary>Writes the document that a walk is at.</summary>
    public static void Write(
        IBufferWriter<byte> output,
        DocumentCursor walk,
        Database database,
        bool metadataOnly = false
    )
    {
        Span<byte> history = stackalloc byte[64];
        history = history[..Encoding.ASCII.GetBytes(database.HistoryId, history)];
        if (metadataOnly)
        {
            DocumentWriter.WriteMetadataOnly(output, walk.Head, walk.Etag, history);
        }
        else
        {
            walk.Write(output, history);
        }
    }

    /// <summary>The collection as clients see it: documents without one are in "@empty".</summary>
    public static string CollectionName(string? collection) => string.IsNullOrEmpty(collection) ? "@empty" : collection;

    /// <summary>A stamp as clients read it.</summary>
    public static string Date(long utcTicks)
    {
        Span<byte> text = stackalloc byte[WireDate.Length];
        WireDate.Write(text, utcTicks);
        return Encoding.ASCII.GetString(text);
    }
}

using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Rookery.Benchmarks;

/// <summary>Documents in the two forms that bulk loads read: RavenDB's bulk_insert array, and lines of an id, a tab and the JSON for those of the peers.</summary>
internal sealed class DocumentFiles : IDisposable
{
    private const int BufferBytes = 1 << 20;

    // As JSON.stringify writes it: < and > as they are, without which each tag of a drawing is six bytes longer.
    private static readonly JsonWriterOptions AsBrowsersDo = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly FileStream bulk;
    private readonly FileStream lines;
    private readonly MemoryStream document = new();
    private long count;
    private long bytes;

    /// <summary>Begins <paramref name="target"/>, and beside it the lines, as <c>.tsv</c>.</summary>
    public DocumentFiles(string target)
    {
        bulk = File.Create(target, BufferBytes);
        lines = File.Create(Path.ChangeExtension(target, ".tsv"), BufferBytes);
        bulk.Write("["u8);
    }

    /// <summary>Adds a document of a collection, whose members the caller writes.</summary>
    public void Add(string id, string collection, Action<Utf8JsonWriter> writeMembers)
    {
        document.SetLength(0);
        using (var writer = new Utf8JsonWriter(document, AsBrowsersDo))
        {
            writer.WriteStartObject();
            writeMembers(writer);
            writer.WriteStartObject("@metadata");
            writer.WriteString("@collection", collection);
            writer.WriteEndObject();
            writer.WriteEndObject();
        }

        bulk.Write(count == 0 ? ""u8 : ","u8);
        bulk.Write(Encoding.UTF8.GetBytes($"{{\"Id\":\"{id}\",\"Type\":\"PUT\",\"Document\":"));
        document.WriteTo(bulk);
        bulk.Write("}"u8);
        lines.Write(Encoding.UTF8.GetBytes(id + "\t"));
        document.WriteTo(lines);
        lines.Write("\n"u8);
        count++;
        bytes += document.Length;
    }

    /// <summary>Ends both files; prints the number of documents and their JSON bytes.</summary>
    public void Dispose()
    {
        bulk.Write("]"u8);
        bulk.Dispose();
        lines.Dispose();
        document.Dispose();
        Console.WriteLine($"{count} documents, {bytes} JSON bytes");
    }
}

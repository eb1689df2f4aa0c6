using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Rookery.Benchmarks;

/// <summary>
/// Writes documents in two forms: RavenDB's bulk_insert array, and, for the peers, lines with id, tab and JSON.
/// </summary>
internal sealed class DocumentFiles : IDisposable
{
    private const int BufferBytes = 1 << 20;

    // Like JSON.stringify, with < and > unescaped. Escaped, each would be six bytes long, and drawings contain many
    // tags.
    private static readonly JsonWriterOptions AsBrowsersDo = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    private readonly FileStream _bulk;
    private readonly FileStream _lines;
    private readonly MemoryStream _document = new();
    private long _count;
    private long _bytes;

    /// <summary>
    /// Creates <paramref name="target"/> for the array, and a file beside it with the suffix <c>.tsv</c> for the lines.
    /// </summary>
    public DocumentFiles(string target)
    {
        _bulk = File.Create(target, BufferBytes);
        _lines = File.Create(Path.ChangeExtension(target, ".tsv"), BufferBytes);
        _bulk.Write("["u8);
    }

    /// <summary>Adds a document of a collection. The caller writes its members.</summary>
    public void Add(string id, string collection, Action<Utf8JsonWriter> writeMembers)
    {
        _document.SetLength(0);
        using (var writer = new Utf8JsonWriter(_document, AsBrowsersDo))
        {
            writer.WriteStartObject();
            writeMembers(writer);
            writer.WriteStartObject("@metadata");
            writer.WriteString("@collection", collection);
            writer.WriteEndObject();
            writer.WriteEndObject();
        }

        _bulk.Write(_count == 0 ? ""u8 : ","u8);
        _bulk.Write(Encoding.UTF8.GetBytes($"{{\"Id\":\"{id}\",\"Type\":\"PUT\",\"Document\":"));
        _document.WriteTo(_bulk);
        _bulk.Write("}"u8);
        _lines.Write(Encoding.UTF8.GetBytes(id + "\t"));
        _document.WriteTo(_lines);
        _lines.Write("\n"u8);
        _count++;
        _bytes += _document.Length;
    }

    /// <summary>Ends both files; prints the number of documents and their JSON bytes.</summary>
    public void Dispose()
    {
        _bulk.Write("]"u8);
        _bulk.Dispose();
        _lines.Dispose();
        _document.Dispose();
        Console.WriteLine($"{_count} documents, {_bytes} JSON bytes");
    }
}

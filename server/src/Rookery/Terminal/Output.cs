using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Rookery.Hosting.Logging;

namespace Rookery.Terminal;

/// <summary>Results on stdout, as bytes: large ones do not become strings first.</summary>
internal static class Output
{
    // Read by people too; the strict encoder would write every umlaut as an escape.
    private static readonly JsonWriterOptions Indented = new()
    {
        Indented = true,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    /// <summary>Stdout itself.</summary>
    public static StandardStream Stream => StandardStream.Output;

    /// <summary>
    /// Stdout for what others wrote: JSON of a node stays the same JSON, and a terminal obeys nothing of it.
    /// </summary>
    public static Stream Visible { get; } = new VisibleStream(Stream);

    /// <summary>A line of text, as <see cref="VisibleText"/>.</summary>
    public static void Line(string line) => Stream.Write(Encoding.UTF8.GetBytes(VisibleText.Of(line) + "\n"));

    /// <summary>Lines of text, as <see cref="VisibleText"/>.</summary>
    public static void Lines(IEnumerable<string> lines) => Painted(lines.Select(VisibleText.Of));

    /// <summary>Lines that have colours; what others wrote in them is <see cref="VisibleText"/> already.</summary>
    public static void Painted(IEnumerable<string> lines)
    {
        var text = new StringBuilder();
        foreach (string line in lines)
        {
            text.Append(line).Append('\n');
        }

        Stream.Write(Encoding.UTF8.GetBytes(text.ToString()));
    }

    /// <summary>A table, cut to the terminal where there is one.</summary>
    public static void Write(Table table) => Painted(table.Lines(Tty.IsOutput ? Tty.Size().Width : null, Paint.Output));

    /// <summary>JSON: indented for a person, as it came for a program.</summary>
    public static void Write(JsonElement json) => Visible.Write(Bytes(json, Tty.IsOutput));

    /// <summary>JSON and a newline.</summary>
    public static byte[] Bytes(JsonElement json, bool isIndented)
    {
        using var text = new MemoryStream();
        if (isIndented)
        {
            using var writer = new Utf8JsonWriter(text, Indented);
            json.WriteTo(writer);
        }
        else
        {
            text.Write(Encoding.UTF8.GetBytes(json.GetRawText()));
        }

        text.WriteByte((byte)'\n');
        return text.ToArray();
    }
}

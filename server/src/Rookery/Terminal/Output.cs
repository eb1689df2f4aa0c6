using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Rookery.Hosting.Logging;

namespace Rookery.Terminal;

/// <summary>Writes results to stdout as bytes, so that large ones do not become strings first.</summary>
internal static class Output
{
    // People read this JSON too. The strict encoder would escape every umlaut.
    private static readonly JsonWriterOptions Indented = new()
    {
        Indented = true,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    /// <summary>The form of JSON in a cell of a table: one line, with letters instead of their escapes.</summary>
    public static JsonWriterOptions Compact { get; } = Indented with { Indented = false };

    /// <summary>Stdout without escaping.</summary>
    public static StandardStream Stream => StandardStream.Output;

    /// <summary>
    /// Stdout for text of other machines: control characters are escaped, and JSON stays equivalent JSON.
    /// </summary>
    public static Stream Visible { get; } = new VisibleStream(Stream);

    /// <summary>Writes a line of text through <see cref="VisibleText"/>.</summary>
    public static void Line(string line) => Stream.Write(Encoding.UTF8.GetBytes(VisibleText.Of(line) + "\n"));

    /// <summary>Writes lines of text through <see cref="VisibleText"/>.</summary>
    public static void Lines(IEnumerable<string> lines) => Painted(lines.Select(VisibleText.Of));

    /// <summary>
    /// Writes lines with colours. The caller has escaped text of other machines by <see cref="VisibleText"/>.
    /// </summary>
    public static void Painted(IEnumerable<string> lines)
    {
        var text = new StringBuilder();
        foreach (string line in lines)
        {
            text.Append(line).Append('\n');
        }

        Stream.Write(Encoding.UTF8.GetBytes(text.ToString()));
    }

    /// <summary>Writes a table, cut to the terminal's width if there is a terminal.</summary>
    public static void Write(Table table) => Painted(table.Lines(Tty.IsOutput ? Tty.Size().Width : null, Paint.Output));

    /// <summary>Writes JSON: indented on a terminal, otherwise unchanged.</summary>
    public static void Write(JsonElement json) => Visible.Write(Bytes(json, Tty.IsOutput));

    /// <summary>Formats JSON with a newline at the end.</summary>
    public static byte[] Bytes(JsonElement json, bool isIndented)
    {
        if (isIndented)
        {
            return Bytes(json, Indented);
        }

        return Encoding.UTF8.GetBytes(json.GetRawText() + "\n");
    }

    /// <summary>Formats JSON with a newline at the end.</summary>
    public static byte[] Bytes(JsonElement json, JsonWriterOptions form)
    {
        using var text = new MemoryStream();
        using (var writer = new Utf8JsonWriter(text, form))
        {
            json.WriteTo(writer);
        }

        text.WriteByte((byte)'\n');
        return text.ToArray();
    }
}

using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Rookery.Server.Support;

/// <summary>One file of a debug package.</summary>
/// <param name="Name">Its path in the package.</param>
/// <param name="About">What it holds, for the package's README.</param>
/// <param name="WriteAsync">Writes it, without documents and without secrets.</param>
public sealed record DebugPart(string Name, string About, Func<Stream, CancellationToken, ValueTask> WriteAsync)
{
    // It is read by people; nothing shows it as a page.
    private static readonly JsonWriterOptions Readable = new()
    {
        Indented = true,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    /// <summary>A file of text.</summary>
    public static DebugPart OfText(string name, string about, Func<string> text) =>
        new(
            name,
            about,
            (stream, _) =>
            {
                stream.Write(Encoding.UTF8.GetBytes(text()));
                return ValueTask.CompletedTask;
            }
        );

    /// <summary>A file that is one JSON object whose members are written.</summary>
    public static DebugPart OfJson(string name, string about, Action<Utf8JsonWriter> members) =>
        OfWholeJson(
            name,
            about,
            json =>
            {
                json.WriteStartObject();
                members(json);
                json.WriteEndObject();
            }
        );

    /// <summary>A file of JSON that is written whole.</summary>
    /// <param name="name">Its path in the package.</param>
    /// <param name="about">What it holds.</param>
    /// <param name="write">Writes one JSON value.</param>
    /// <param name="isIndented">Whether it is laid out for people; long columns are not.</param>
    public static DebugPart OfWholeJson(
        string name,
        string about,
        Action<Utf8JsonWriter> write,
        bool isIndented = true
    ) =>
        new(
            name,
            about,
            (stream, _) =>
            {
                using (var json = new Utf8JsonWriter(stream, Readable with { Indented = isIndented }))
                {
                    write(json);
                }

                stream.WriteByte((byte)'\n');
                return ValueTask.CompletedTask;
            }
        );
}

using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Rookery.Server.Support;

/// <summary>One file of a debug package.</summary>
/// <param name="Name">Path in the package.</param>
/// <param name="About">Description for the package's README.</param>
/// <param name="WriteAsync">Writes the content, without documents and secrets.</param>
public sealed record DebugPart(string Name, string About, Func<Stream, CancellationToken, ValueTask> WriteAsync)
{
    // Readable for people; the file is never shown as a web page.
    private static readonly JsonWriterOptions Readable = new()
    {
        Indented = true,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    /// <summary>Returns a text file.</summary>
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

    /// <summary>Returns a file with one JSON object, whose members <paramref name="members"/> writes.</summary>
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

    /// <summary>Returns a file with one JSON value.</summary>
    /// <param name="name">Path in the package.</param>
    /// <param name="about">Description for the package's README.</param>
    /// <param name="write">Writes the value.</param>
    /// <param name="isIndented">Whether to indent it for people; not for long columns.</param>
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

using System.Buffers;
using System.Text.Json;

namespace Rookery.Server.Subscriptions;

/// <summary>Why a connection of a worker ends, as RavenDB's clients receive it.</summary>
/// <param name="Status">The status: <c>Closed</c>, <c>InUse</c>, <c>NotFound</c>, <c>Invalid</c>, <c>Redirect</c>,
/// <c>ConcurrencyReconnect</c>; null for an error.</param>
/// <param name="Sentence">The reason in one sentence.</param>
internal sealed record EndOfConnection(string? Status, string Sentence)
{
    /// <summary>Closed: whether the client connects again by itself.</summary>
    public bool CanReconnect { get; init; }

    /// <summary>Closed: whether all documents are processed, and the worker asked to end then.</summary>
    public bool HasNoDocumentsLeft { get; init; }

    /// <summary>Redirect: tag of the member that serves the subscription; null if there is none now.</summary>
    public string? ServingTag { get; init; }

    /// <summary>Name of the exception in RavenDB, which precedes the sentence.</summary>
    public string ExceptionType { get; init; } = "Raven.Client.Exceptions.RavenException";

    /// <summary>Returns an end after which the client connects again.</summary>
    public static EndOfConnection Reconnect(string sentence) => new("ConcurrencyReconnect", sentence);
}

/// <summary>Writes the messages of the server in RavenDB's TCP protocol.</summary>
internal static class ServerMessages
{
    /// <summary>
    /// Blanks between two messages, which show the client that the server is there. RavenDB sends the same two bytes.
    /// </summary>
    public static ReadOnlySpan<byte> Heartbeat => "\r\n"u8;

    /// <summary>Writes the answer to a header.</summary>
    public static byte[] Header(string status, int version, string? message)
    {
        var output = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(output))
        {
            json.WriteStartObject();
            json.WriteString("Status"u8, status);
            json.WriteString("Message"u8, message);
            json.WriteNumber("Version"u8, version);
            json.WriteStartObject("LicensedFeatures"u8);
            json.WriteBoolean("DataCompression"u8, value: false);
            json.WriteEndObject();
            json.WriteEndObject();
        }

        return output.WrittenSpan.ToArray();
    }

    /// <summary>Writes that the worker is accepted.</summary>
    public static ReadOnlySpan<byte> Accepted => "{\"Type\":\"ConnectionStatus\",\"Status\":\"Accepted\"}"u8;

    /// <summary>Writes the end of a batch.</summary>
    public static ReadOnlySpan<byte> EndOfBatch => "{\"Type\":\"EndOfBatch\"}"u8;

    /// <summary>Writes that an acknowledgement is stored.</summary>
    public static ReadOnlySpan<byte> Confirm => "{\"Type\":\"Confirm\"}"u8;

    /// <summary>Writes why the connection ends.</summary>
    public static byte[] End(EndOfConnection end, string tag)
    {
        var output = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(output))
        {
            json.WriteStartObject();
            json.WriteString("Type"u8, end.Status is null ? "Error"u8 : "ConnectionStatus"u8);
            if (end.Status is not null)
            {
                json.WriteString("Status"u8, end.Status);
            }

            json.WriteString("Message"u8, end.Sentence);
            json.WriteString("Exception"u8, $"{end.ExceptionType}: {end.Sentence}");
            json.WriteStartObject("Data"u8);
            if (end.Status is "Redirect")
            {
                WriteRedirect(json, end, tag);
            }
            else
            {
                json.WriteBoolean("CanReconnect"u8, end.CanReconnect);
                json.WriteBoolean("NoDocsLeft"u8, end.HasNoDocumentsLeft);
            }

            json.WriteEndObject();
            json.WriteEndObject();
        }

        return output.WrittenSpan.ToArray();
    }

    // RavenDB's clients for .NET and Python read the first spelling, those for Node.js the second.
    private static void WriteRedirect(Utf8JsonWriter json, EndOfConnection end, string tag)
    {
        json.WriteString("CurrentTag"u8, tag);
        json.WriteString("RedirectedTag"u8, end.ServingTag);
        json.WriteStartArray("Reasons"u8);
        json.WriteStartObject();
        json.WriteString(tag, end.Sentence);
        json.WriteEndObject();
        json.WriteEndArray();
        json.WriteNumber("RegisterConnectionDurationInTicks"u8, 0);
        json.WriteString("currentTag"u8, tag);
        json.WriteString("redirectedTag"u8, end.ServingTag);
        json.WriteString("reasons"u8, end.Sentence);
    }
}

using System.Text;
using System.Text.Json;
using Rookery.Documents.Parsing;
using Rookery.Json;

namespace Rookery.Documents.Tests.Parsing;

/// <summary>Helpers that parse a text and assemble the parsed parts again.</summary>
internal static class ParsedExample
{
    public static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    public static string Text(ReadOnlySpan<byte> bytes) => Encoding.UTF8.GetString(bytes);

    /// <summary>
    /// Returns the members of the body. The parser splits them into those before and those after the metadata; this
    /// joins the two.
    /// </summary>
    public static string Body(in ParsedDocument document)
    {
        string head = Text(document.BodyHead),
            tail = Text(document.BodyTail);
        return head + (head.Length > 0 && tail.Length > 0 ? "," : "") + tail;
    }

    /// <summary>Parses JSON that must be refused with a helpful error, and returns the error.</summary>
    public static InputError Refusal(ReadOnlySpan<byte> json)
    {
        using DocumentParser parser = DocumentParser.Rent();
        Assert.False(parser.TryParse(json, out _, out InputError error), Text(json));
        AssertHelpful(error);
        return error;
    }

    /// <summary>Asserts that an error states what is wrong, where, and what to do.</summary>
    public static void AssertHelpful(InputError error)
    {
        Assert.True(error.IsError);
        Assert.False(string.IsNullOrWhiteSpace(error.What), error.Code.ToString());
        Assert.False(string.IsNullOrWhiteSpace(error.Advice), error.Code.ToString());
        Assert.False(string.IsNullOrWhiteSpace(error.Where.ToString()), error.Code.ToString());
        Assert.DoesNotContain(error.Code.ToString(), error.What, StringComparison.Ordinal);
    }

    /// <summary>Returns whether a body equals the original without metadata, when another parser reads both.</summary>
    public static bool IsSameBody(ReadOnlySpan<byte> original, string body)
    {
        using JsonDocument expected = JsonDocument.Parse(
            original.ToArray(),
            new JsonDocumentOptions { MaxDepth = 200 }
        );
        using JsonDocument actual = JsonDocument.Parse("{" + body + "}", new JsonDocumentOptions { MaxDepth = 200 });
        var members = expected
            .RootElement.EnumerateObject()
            .Where(member => !member.NameEquals("@metadata"u8))
            .ToArray();
        return members.Length == actual.RootElement.EnumerateObject().Count()
            && members.All(member =>
                actual.RootElement.TryGetProperty(member.Name, out JsonElement value)
                && JsonElement.DeepEquals(member.Value, value)
            );
    }
}

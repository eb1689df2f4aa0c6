using System.Buffers;
using Rookery.Documents.Stored;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Parsing;

/// <summary>
/// The form of compare-exchange values: <c>{"Object":VALUE,"@metadata":{…}}</c>, as RavenDB's clients send and read it.
/// A value is stored like a document. Its metadata is optional.
/// </summary>
public static class CompareExchangeValue
{
    /// <summary>Maximum length of a value as stored, in bytes.</summary>
    public const int MaxBytes = 1 << 20;

    private const string Form = "A compare-exchange value has the member Object and no other";
    private const string Advice = "Send {\"Object\":VALUE}, with \"@metadata\":{…} beside it if wanted";

    private static readonly SearchValues<byte> Structure = SearchValues.Create("\"{}[],"u8);

    private static ReadOnlySpan<byte> ObjectMember => "\"Object\":"u8;

    /// <summary>Parses a body with a value, and checks its form and length.</summary>
    /// <param name="parser">The parser, which the caller disposes after it has used the value.</param>
    /// <param name="body">The whole body.</param>
    /// <param name="value">The value.</param>
    /// <param name="error">The reason for a refusal.</param>
    public static bool TryParse(
        DocumentParser parser,
        ReadOnlySpan<byte> body,
        out ParsedDocument value,
        out InputError error
    )
    {
        if (parser.TryParse(body, out value, out error))
        {
            return TryCheck(value, out error);
        }

        // The parser's message is about documents.
        error =
            error.Code == InputErrorCode.NotAnObject ? new InputError(error.Code, Form, error.Where, Advice) : error;
        return false;
    }

    /// <summary>Checks the form and length of a value.</summary>
    /// <param name="value">The parsed body.</param>
    /// <param name="error">The reason for a refusal; its place is the beginning of the body.</param>
    public static bool TryCheck(in ParsedDocument value, out InputError error)
    {
        var members = value.BodyHead.IsEmpty ? value.BodyTail : value.BodyHead;
        bool isInOnePart = value.BodyHead.IsEmpty || value.BodyTail.IsEmpty;
        if (!members.StartsWith(ObjectMember) || !isInOnePart || HasSecondMember(members))
        {
            error = new InputError(InputErrorCode.MissingMember, Form, new InputPlace(ByteOffset: 0), Advice);
            return false;
        }

        int bytes = StoredDocument.ContentBytes(value);
        if (bytes > MaxBytes)
        {
            var (actual, max) = Amount.BytesOver(bytes, MaxBytes);
            error = new InputError(
                InputErrorCode.DocumentTooLarge,
                $"The compare-exchange value takes {actual}, and at most {max} are allowed",
                new InputPlace(ByteOffset: 0),
                "Store a document, and its id in the value"
            );
            return false;
        }

        error = default;
        return true;
    }

    /// <summary>Writes a stored value as clients read it.</summary>
    public static void Write(IBufferWriter<byte> output, in DocumentView value) =>
        Write(output, value.Body, value.Metadata, value.Collection);

    /// <summary>Writes a value that passed <see cref="TryCheck"/> as clients read it.</summary>
    public static void Write(IBufferWriter<byte> output, in ParsedDocument value) =>
        Write(output, value.BodyHead.IsEmpty ? value.BodyTail : value.BodyHead, value.Metadata, value.Collection);

    private static void Write(
        IBufferWriter<byte> output,
        ReadOnlySpan<byte> body,
        ReadOnlySpan<byte> metadata,
        ReadOnlySpan<byte> collection
    )
    {
        output.Write("{"u8);
        output.Write(body);
        if (!metadata.IsEmpty || !collection.IsEmpty)
        {
            output.Write(",\"@metadata\":{"u8);
            output.Write(metadata);
            if (!collection.IsEmpty)
            {
                output.Write(metadata.IsEmpty ? "\"@collection\":"u8 : ",\"@collection\":"u8);
                JsonText.WriteString(output, collection);
            }

            output.Write("}"u8);
        }

        output.Write("}"u8);
    }

    // The members are valid minified JSON, so a comma outside of brackets separates two of them.
    private static bool HasSecondMember(ReadOnlySpan<byte> members)
    {
        int depth = 0;
        int at = 0;
        while (members[at..].IndexOfAny(Structure) is var offset and >= 0)
        {
            at += offset;
            switch (members[at])
            {
                case (byte)'"':
                    at = JsonText.SkipString(members, at);
                    continue;
                case (byte)'{' or (byte)'[':
                    depth++;
                    break;
                case (byte)'}' or (byte)']':
                    depth--;
                    break;
                default:
                    if (depth == 0)
                    {
                        return true;
                    }

                    break;
            }

            at++;
        }

        return false;
    }
}

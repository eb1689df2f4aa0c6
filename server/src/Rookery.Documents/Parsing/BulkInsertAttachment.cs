using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using Rookery.Documents.Attachments;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Parsing;

/// <summary>
/// The members of an attachment in a bulk insert:
/// <c>{"Id":"users/1","Type":"AttachmentPUT","Name":"a","ContentType":"text/plain","ContentLength":3}</c>. The bytes of
/// the content follow the element, before its comma.
/// </summary>
internal sealed class BulkInsertAttachment
{
    private readonly PooledBytes _name = new();
    private readonly PooledBytes _contentType = new();
    private string? _member; // the first member that was read

    /// <summary>The attachment's name.</summary>
    public ReadOnlySpan<byte> Name => _name.Written;

    /// <summary>The content type; empty if there is none.</summary>
    public ReadOnlySpan<byte> ContentType => _contentType.Written;

    /// <summary>Number of bytes that follow the element; -1 if the element states none.</summary>
    public long ContentLength { get; private set; } = -1;

    /// <summary>Forgets the last element.</summary>
    public void Clear()
    {
        _name.Clear();
        _contentType.Clear();
        ContentLength = -1;
        _member = null;
    }

    /// <summary>Returns the memory.</summary>
    public void Release()
    {
        _name.Release();
        _contentType.Release();
    }

    /// <summary>Returns a member that only attachments have, if the element has one.</summary>
    public bool HasMember([NotNullWhen(true)] out string? member) => (member = _member) is not null;

    /// <summary>Returns whether a member is one of an attachment.</summary>
    public static bool IsMember(ReadOnlySpan<byte> member) =>
        member.SequenceEqual("Name"u8)
        || member.SequenceEqual("ContentType"u8)
        || member.SequenceEqual("ContentLength"u8);

    /// <summary>Reads the value of a member for which <see cref="IsMember"/> holds.</summary>
    public bool TryRead(scoped ref JsonScanner scanner, ReadOnlySpan<byte> member)
    {
        if (scanner.Peek() == (byte)'n')
        {
            return scanner.TryTakeLiteral("null"u8);
        }

        _member ??= ShortText.Of(member, maxBytes: 64);
        if (member.SequenceEqual("ContentLength"u8))
        {
            int start = scanner.Position; // Peek skipped the space before it
            if (!scanner.TrySkipValue(levels: 1))
            {
                return false;
            }

            var digits = scanner.Json[start..scanner.Position];
            ContentLength =
                Utf8Parser.TryParse(digits, out long length, out int read) && read == digits.Length ? length : -1;
            return true;
        }

        if (!scanner.TryReadString(out JsonSlice slice))
        {
            return false;
        }

        var text = member.SequenceEqual("Name"u8) ? _name : _contentType;
        text.Append(scanner.Text(slice));
        return true;
    }

    /// <summary>Returns what is wrong with the attachment, and what to do; null if nothing is.</summary>
    public (string Problem, string Advice)? FindProblem() =>
        !AttachmentList.IsName(Name)
            ? (
                $"The Name has 1 to {AttachmentList.MaxNameBytes} bytes, and this one {_name.Length}",
                "Choose another one"
            )
        : !AttachmentList.IsContentType(ContentType)
            ? ($"The ContentType has more than {AttachmentList.MaxContentTypeBytes} bytes", "Send a shorter one")
        : ContentLength < 0
            ? (
                "The attachment has no ContentLength",
                "Send {\"Id\":…,\"Type\":\"AttachmentPUT\",\"Name\":…,\"ContentLength\":…} and the bytes"
            )
        : null;
}

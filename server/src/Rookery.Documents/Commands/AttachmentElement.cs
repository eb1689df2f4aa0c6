using Rookery.Documents.Attachments;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>The members of a command of bulk_docs that concern an attachment.</summary>
/// <param name="takesContents">Whether the bytes of each AttachmentPUT follow the commands, in order.</param>
internal sealed class AttachmentElement(bool takesContents)
{
    private readonly PooledBytes _name = new();
    private readonly PooledBytes _contentType = new();

    /// <summary>Returns the kind of a command's type; the default value if it changes no attachment.</summary>
    public static OperationKind KindOf(ReadOnlySpan<byte> type, int formatLevel) =>
        formatLevel < FormatLevel.Attachments ? default
        : type.SequenceEqual("AttachmentPUT"u8) ? OperationKind.AttachmentPut
        : type.SequenceEqual("AttachmentDELETE"u8) ? OperationKind.AttachmentDelete
        : default;

    /// <summary>Returns the buffer for the text of a member; null for a member of other commands.</summary>
    public PooledBytes? TextOf(ReadOnlySpan<byte> member) =>
        member.SequenceEqual("Name"u8) ? _name
        : member.SequenceEqual("ContentType"u8) ? _contentType
        : null;

    /// <summary>Returns a member that a command of this kind must not have, or null.</summary>
    public string? FindForbiddenMember(OperationKind kind) =>
        kind == OperationKind.AttachmentPut ? null
        : _contentType.Length > 0 ? "ContentType"
        : kind != OperationKind.AttachmentDelete && _name.Length > 0 ? "Name"
        : null;

    /// <summary>Forgets the members of the last command.</summary>
    public void Clear()
    {
        _name.Clear();
        _contentType.Clear();
    }

    /// <summary>Returns the memory.</summary>
    public void Release()
    {
        _name.Release();
        _contentType.Release();
    }

    /// <summary>Adds the command to the batch.</summary>
    /// <param name="writer">The batch.</param>
    /// <param name="kind">AttachmentPut or AttachmentDelete.</param>
    /// <param name="id">The document's id.</param>
    /// <param name="expected">The attachment's expected change vector.</param>
    /// <param name="what">What is wrong with the command.</param>
    /// <param name="advice">What to do.</param>
    public bool TryAdd(
        BatchWriter writer,
        OperationKind kind,
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        out string what,
        out string advice
    )
    {
        (what, advice) = (string.Empty, string.Empty);
        var name = _name.Written;
        if (name.Length is 0 or > AttachmentList.MaxNameBytes)
        {
            what =
                $"The name of an attachment has 1 to {AttachmentList.MaxNameBytes} bytes, and this one {name.Length}";
            advice = "Choose another one";
            return false;
        }

        if (kind == OperationKind.AttachmentDelete)
        {
            writer.DeleteAttachment(id, expected, name);
            return true;
        }

        if (_contentType.Written.Length > AttachmentList.MaxContentTypeBytes)
        {
            what = $"The ContentType has more than {AttachmentList.MaxContentTypeBytes} bytes";
            advice = "Send a shorter one";
            return false;
        }

        if (!takesContents)
        {
            what = "The batch has no files, and this command is an AttachmentPUT";
            advice = "Send a multipart body with one part for each AttachmentPUT, in order, after the commands";
            return false;
        }

        writer.PutAttachment(id, expected, name, _contentType.Written);
        return true;
    }
}

using Rookery.Documents.Attachments;
using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>The members of a command of bulk_docs that concern an attachment.</summary>
/// <param name="takesContents">Whether the bytes of each AttachmentPUT follow the commands, in order.</param>
internal sealed class AttachmentElement(bool takesContents)
{
    private readonly PooledBytes _name = new();
    private readonly PooledBytes _contentType = new();
    private readonly PooledBytes _destinationId = new();
    private readonly PooledBytes _destinationName = new();
    private bool _moves;

    /// <summary>Reads a command's type, and returns its kind; the default value if it changes no attachment.</summary>
    public OperationKind ReadType(ReadOnlySpan<byte> type, int formatLevel)
    {
        _moves = type.SequenceEqual("AttachmentMOVE"u8);
        return formatLevel < FormatLevel.Attachments ? default
            : type.SequenceEqual("AttachmentPUT"u8) ? OperationKind.AttachmentPut
            : type.SequenceEqual("AttachmentDELETE"u8) ? OperationKind.AttachmentDelete
            : _moves || type.SequenceEqual("AttachmentCOPY"u8) ? OperationKind.AttachmentCopy
            : default;
    }

    /// <summary>Returns the type of a command that changes an attachment.</summary>
    public string TypeOf(OperationKind kind) =>
        kind switch
        {
            OperationKind.AttachmentPut => "AttachmentPUT",
            OperationKind.AttachmentDelete => "AttachmentDELETE",
            _ => _moves ? "AttachmentMOVE" : "AttachmentCOPY",
        };

    /// <summary>Returns the buffer for the text of a member; null for a member of other commands.</summary>
    public PooledBytes? TextOf(ReadOnlySpan<byte> member) =>
        member.SequenceEqual("Name"u8) ? _name
        : member.SequenceEqual("ContentType"u8) ? _contentType
        : member.SequenceEqual("DestinationId"u8) ? _destinationId
        : member.SequenceEqual("DestinationName"u8) ? _destinationName
        : null;

    /// <summary>Returns the first member that was read although a command of this kind has none; otherwise
    /// null.</summary>
    public string? FindForbiddenMember(OperationKind kind) =>
        kind != OperationKind.AttachmentPut && _contentType.Length > 0 ? "ContentType"
        : kind == OperationKind.AttachmentCopy ? null
        : _destinationId.Length > 0 ? "DestinationId"
        : _destinationName.Length > 0 ? "DestinationName"
        : kind is not (OperationKind.AttachmentPut or OperationKind.AttachmentDelete) && _name.Length > 0 ? "Name"
        : null;

    /// <summary>Forgets the members of the last command.</summary>
    public void Clear()
    {
        _name.Clear();
        _contentType.Clear();
        _destinationId.Clear();
        _destinationName.Clear();
    }

    /// <summary>Returns the memory.</summary>
    public void Release()
    {
        _name.Release();
        _contentType.Release();
        _destinationId.Release();
        _destinationName.Release();
    }

    /// <summary>Adds the command to the batch.</summary>
    /// <param name="writer">The batch.</param>
    /// <param name="kind">AttachmentPut, AttachmentDelete or AttachmentCopy.</param>
    /// <param name="id">The document's id.</param>
    /// <param name="expected">The expected change vector of the attachment in the member Name.</param>
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
        if (!IsName(name, "name of an attachment", ref what, ref advice))
        {
            return false;
        }

        if (kind == OperationKind.AttachmentCopy)
        {
            if (!DocumentId.TryValidate(_destinationId.Written, out var problem))
            {
                (what, advice) = ($"DestinationId: {problem.What}", problem.Advice);
                return false;
            }

            if (!IsName(_destinationName.Written, "DestinationName", ref what, ref advice))
            {
                return false;
            }

            writer.CopyAttachment(_destinationId.Written, _destinationName.Written, id, name, expected, _moves);
            return true;
        }

        if (kind == OperationKind.AttachmentDelete)
        {
            writer.DeleteAttachment(id, expected, name);
            return true;
        }

        if (!AttachmentList.IsContentType(_contentType.Written))
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

    private static bool IsName(ReadOnlySpan<byte> name, string what, ref string refusal, ref string advice)
    {
        if (AttachmentList.IsName(name))
        {
            return true;
        }

        refusal = $"The {what} has 1 to {AttachmentList.MaxNameBytes} bytes, and this one {name.Length}";
        advice = "Choose another one";
        return false;
    }
}

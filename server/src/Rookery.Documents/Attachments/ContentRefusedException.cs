using Rookery.Platform;

namespace Rookery.Documents.Attachments;

/// <summary>Thrown if a content is not accepted. Nothing was stored.</summary>
/// <param name="message">Why, and what to do.</param>
/// <param name="cause">The kind of reason.</param>
public sealed class ContentRefusedException(string message, ContentRefusal cause) : Exception(message)
{
    /// <summary>The kind of reason.</summary>
    public ContentRefusal Cause => cause;

    internal static ContentRefusedException TooLarge(long maxBytes) =>
        new(
            $"The attachment is larger than {Amount.Bytes(maxBytes)}, which is the limit, and was not stored. Split it "
                + "into several attachments.",
            ContentRefusal.TooLarge
        );

    internal static ContentRefusedException Differs(ContentName expected) =>
        new(
            $"The bytes that arrived are not those of the content {expected.Hash.ToHex()}, and were not stored. They "
                + "are damaged at the sender, or changed on the way.",
            ContentRefusal.Differs
        );
}

/// <summary>Why a content is not accepted.</summary>
public enum ContentRefusal
{
    /// <summary>It is too large.</summary>
    TooLarge,

    /// <summary>The disk has no room.</summary>
    NoRoom,

    /// <summary>The bytes that arrived from another member are not those of the content.</summary>
    Differs,
}

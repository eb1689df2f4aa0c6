namespace Rookery.Search.Values;

/// <summary>Kinds of values, in their sort order. A range matches values of one kind only.</summary>
public enum ValueKind : byte
{
    /// <summary><c>null</c>.</summary>
    Null,

    /// <summary><c>false</c>, <c>true</c>.</summary>
    Boolean,

    /// <summary>A number.</summary>
    Number,

    /// <summary>A text, compared without case.</summary>
    Text,

    /// <summary>A text, compared with case.</summary>
    ExactText,

    /// <summary>An object, or an array as one value, compared by its JSON text.</summary>
    Container,
}

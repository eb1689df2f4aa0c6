namespace Rookery.Indexing.Mapping;

/// <summary>A definition of an index cannot be carried out.</summary>
/// <param name="message">What is wrong, in a sentence.</param>
/// <param name="isNotSupported">Whether it makes sense, and only this program does not carry it out.</param>
public sealed class IndexDefinitionException(string message, bool isNotSupported = false) : Exception(message)
{
    /// <summary>Whether it makes sense, and only this program does not carry it out: 501.</summary>
    public bool IsNotSupported => isNotSupported;
}

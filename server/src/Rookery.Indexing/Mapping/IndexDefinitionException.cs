namespace Rookery.Indexing.Mapping;

/// <summary>Thrown if a definition of an index cannot be used.</summary>
/// <param name="message">The error in a sentence.</param>
/// <param name="isNotSupported">Whether the definition is valid but uses something that this version does not
/// support.</param>
public sealed class IndexDefinitionException(string message, bool isNotSupported = false) : Exception(message)
{
    /// <summary>
    /// Whether the definition is valid but uses something that this version does not support (HTTP: 501).
    /// </summary>
    public bool IsNotSupported => isNotSupported;
}

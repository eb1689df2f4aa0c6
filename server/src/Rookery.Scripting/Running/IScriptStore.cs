namespace Rookery.Scripting.Running;

/// <summary>
/// The documents that a patch loads and stores. What it stores takes effect after the run, but the run itself sees it
/// at once. All methods may throw a <see cref="ScriptFailure"/>.
/// </summary>
internal interface IScriptStore : IScriptDocuments
{
    /// <summary>Stores a document.</summary>
    /// <param name="id">The id, or a prefix that ends with <c>/</c> or <c>|</c>.</param>
    /// <param name="json">The document with its <c>@metadata</c>.</param>
    /// <param name="changeVector">The change vector that the document must have.</param>
    /// <param name="hasChangeVector">Whether it must have it.</param>
    /// <returns>The whole id, valid until the next call.</returns>
    ReadOnlySpan<byte> Put(
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> json,
        ReadOnlySpan<byte> changeVector,
        bool hasChangeVector
    );

    /// <summary>Deletes a document.</summary>
    /// <returns>Whether it exists.</returns>
    bool Delete(ReadOnlySpan<byte> id, ReadOnlySpan<byte> changeVector, bool hasChangeVector);

    /// <summary>Adds a number to a counter of a document, or deletes the counter if there is no number.</summary>
    void ChangeCounter(ReadOnlySpan<byte> id, ReadOnlySpan<byte> name, long? delta);

    /// <summary>Returns the value of a counter of a document; null if there is no such counter.</summary>
    long? ReadCounter(ReadOnlySpan<byte> id, ReadOnlySpan<byte> name);
}

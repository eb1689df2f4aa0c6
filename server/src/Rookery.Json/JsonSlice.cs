namespace Rookery.Json;

/// <summary>The content of a string in JSON text, without its quotes.</summary>
/// <param name="Start">The offset of its first byte.</param>
/// <param name="Length">Its length in bytes.</param>
/// <param name="Escaped">Whether it has escapes, which must be resolved to get the text.</param>
public readonly record struct JsonSlice(int Start, int Length, bool Escaped);

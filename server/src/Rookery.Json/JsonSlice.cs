namespace Rookery.Json;

/// <summary>The inside of a string in some JSON text, quotes excluded.</summary>
/// <param name="Start">Its first byte.</param>
/// <param name="Length">Its bytes.</param>
/// <param name="Escaped">Whether it holds escapes, so that its bytes are not its text.</param>
public readonly record struct JsonSlice(int Start, int Length, bool Escaped);

using System.Diagnostics.CodeAnalysis;

namespace Rookery.Platform;

/// <summary>Names of enumeration values in requests and options.</summary>
public static class EnumName
{
    /// <summary>
    /// Reads the name of one value, ignoring case. Unlike <see cref="Enum.TryParse{TEnum}(string?, out TEnum)"/>, takes
    /// neither numbers nor several names with commas.
    /// </summary>
    /// <param name="text">The text.</param>
    /// <param name="value">The value; undefined if this returns false.</param>
    /// <returns>Whether the text is a name.</returns>
    public static bool TryParse<T>([NotNullWhen(true)] string? text, out T value)
        where T : struct, Enum
    {
        string[] names = Enum.GetNames<T>();
        int index = Array.FindIndex(names, name => string.Equals(name, text, StringComparison.OrdinalIgnoreCase));
        value = index < 0 ? default : Enum.Parse<T>(names[index]);
        return index >= 0;
    }
}

using System.Buffers;
using System.Globalization;
using Rookery.Platform;
using Rookery.Platform.Compression;

namespace Rookery.Server.Operations;

/// <summary>
/// The texts of the manual in the executable. They are in one file, which is compressed as a whole because the texts
/// share words. The file has a line with length in bytes and path for each text, an empty line, and the texts.
/// </summary>
internal static class Manual
{
    /// <summary>Name of the resource, which is compressed with Brotli.</summary>
    public const string Resource = "manual.txt";

    private const int BufferBytes = 16 << 10;

    private static readonly Lazy<Dictionary<string, Place>> KnownPlaces = new(ReadPlaces);

    /// <summary>
    /// Finds a text by its path, such as "reference/http.md"; the ending of a page (.md) may be absent.
    /// </summary>
    /// <returns>The text's place; null if the manual has no such text.</returns>
    public static Place? Find(string path) =>
        KnownPlaces.Value.TryGetValue(path, out var place) || KnownPlaces.Value.TryGetValue(path + ".md", out place)
            ? place
            : null;

    /// <summary>Copies a text. Everything before it is decompressed too, which needs no memory.</summary>
    public static async Task CopyAsync(Place place, Stream destination, CancellationToken cancellation)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(BufferBytes);
        try
        {
            await using var text = Open();
            long end = place.Offset + place.Length;
            for (long at = 0; at < end; )
            {
                int read = await text.ReadAsync(
                    buffer.AsMemory(0, (int)Math.Min(buffer.Length, end - at)),
                    cancellation
                );
                Invariant.Holds(read > 0, "the manual is as long as its lines say");
                int before = (int)Math.Clamp(place.Offset - at, 0, read);
                await destination.WriteAsync(buffer.AsMemory(before, read - before), cancellation);
                at += read;
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    private static Dictionary<string, Place> ReadPlaces()
    {
        var lines = new List<string>();
        long start = 1;
        using (var reader = new StreamReader(Open()))
        {
            for (string line; (line = reader.ReadLine()!).Length > 0; )
            {
                lines.Add(line);
                start += line.Length + 1;
            }
        }

        var places = new Dictionary<string, Place>(StringComparer.Ordinal);
        foreach (string line in lines)
        {
            int blank = line.IndexOf(' ', StringComparison.Ordinal);
            int length = int.Parse(line.AsSpan(0, blank), CultureInfo.InvariantCulture);
            places.Add(line[(blank + 1)..], new Place(start, length));
            start += length;
        }

        return places;
    }

    private static BrotliInputStream Open() => new(typeof(Manual).Assembly.GetManifestResourceStream(Resource)!);

    /// <summary>A text's place in the decompressed file.</summary>
    /// <param name="Offset">Offset of its first byte.</param>
    /// <param name="Length">Its length in bytes.</param>
    internal sealed record Place(long Offset, int Length);
}

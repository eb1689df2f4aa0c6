using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage.Manifest;

namespace Rookery.Storage.Tests;

/// <summary>Files of manifests on a real disk, which can have lengths that a simulated one cannot.</summary>
public sealed class ManifestSlotsTests
{
    private const long ValidRevision = 7;

    /// <summary>
    /// Once, a manifest file of 3 GiB caused an overflow and diagnosis mode, although the other file was valid.
    /// </summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void A_manifest_of_impossible_length_is_damaged_and_the_other_one_is_read(int damagedSlot)
    {
        string directory = Directory.CreateTempSubdirectory("rookery-manifest-").FullName;
        try
        {
            File.WriteAllBytes(Path.Join(directory, ManifestSlots.NameOf(1 - damagedSlot)), WriteValidManifest());
            string path = Path.Join(directory, ManifestSlots.NameOf(damagedSlot));
            using (var file = File.OpenHandle(path, FileMode.Create, FileAccess.Write))
            {
                RandomAccess.SetLength(file, 3L << 30);
            }

            var read = new ManifestSlots(new PosixDisk(), directory, NoRecorder.Instance).Read();
            Assert.Equal(ValidRevision, read?.Revision);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    // Returns the bytes of a manifest that was written to a directory of its own.
    private static byte[] WriteValidManifest()
    {
        string directory = Directory.CreateTempSubdirectory("rookery-manifest-").FullName;
        try
        {
            new ManifestSlots(new PosixDisk(), directory, NoRecorder.Instance).Write(
                new ManifestRecord
                {
                    Revision = ValidRevision,
                    FeatureLevel = 1,
                    Position = default,
                    NextFileId = 1,
                    Groups = [],
                    RangeTombstones = [],
                    PastRangeTombstones = [],
                    DroppedThrough = 0,
                    StoreId = new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
                }
            );
            return File.ReadAllBytes(Path.Join(directory, ManifestSlots.NameOf(0)));
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }
}

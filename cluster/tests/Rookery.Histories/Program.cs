using Rookery.Histories;

if (args is not ["check", var path])
{
    Console.Error.WriteLine("usage: history check FILE (a line of JSON for each operation; - for standard input)");
    return 64;
}

using var lines = string.Equals(path, "-", StringComparison.Ordinal) ? Console.In : File.OpenText(path);
var report = HistoryReport.Of(HistoryFile.Read(lines));
Console.WriteLine(report.ToString());
return report.Violations.Count == 0 ? 0 : 1;

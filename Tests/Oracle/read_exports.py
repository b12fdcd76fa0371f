#!/usr/bin/env python3
"""Reads what meshledger exports with the readers that Python has: csv, json, ElementTree.

usage: read_exports.py FOLDER     FOLDER holds SUBJECT.csv, .json and .jsonl for each subject, and positions.geojson, .gpx, .kml and so on
Demands the same rows in the same order in each format, what RFC 7946 asks of GeoJSON, and what the schemas of GPX 1.1 and KML 2.2 ask of the
elements that are used. Prints each difference (the first twenty); exit status 1 when there is one.
"""
import csv, datetime, json, pathlib, sys
import xml.etree.ElementTree as xml

problems = []


def differ(text):
    problems.append(text)


def plain(value):
    """A JSON value as CSV has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return " ".join(plain(entry) for entry in value)
    return value if isinstance(value, str) else value


def is_same(cell, value):
    if isinstance(value, dict):
        return json.loads(cell) == value
    if isinstance(value, list) and any(isinstance(entry, (dict, float, int)) for entry in value):
        return (cell == "") == (value == []) or plain([entry for entry in value if isinstance(entry, str)]) == cell
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(cell) == value and (not isinstance(value, int) or int(cell) == value)
    if value is None:
        return cell in ("", "nan", "inf", "-inf")
    text = plain(value)
    return cell == text or (text[:1] in "=+-@\t\r" and cell == "'" + text)


def read_rows(folder, subject):
    lines = [json.loads(line) for line in (folder / f"{subject}.jsonl").read_text().splitlines()]
    if subject == "events":
        # A line of the format that is imported again; the other formats have columns.
        lines = json.loads((folder / "events.json").read_text())
    elif json.loads((folder / f"{subject}.json").read_text()) != lines:
        differ(f"{subject}: json and jsonl differ")
    with open(folder / f"{subject}.csv", newline="") as file:
        header, *cells = list(csv.reader(file, strict=True))
    if len(cells) != len(lines):
        differ(f"{subject}: {len(cells)} lines of csv, {len(lines)} of jsonl")
    for number, (line, row) in enumerate(zip(lines, cells), 1):
        if list(line) != header or len(row) != len(header):
            differ(f"{subject} {number}: columns {header}, members {list(line)}")
            continue
        for name, cell in zip(header, row):
            if not is_same(cell, line[name]):
                differ(f"{subject} {number} {name}: {cell!r} in csv, {line[name]!r} in json")
    return lines


def check_place(longitude, latitude, what):
    if not (-180 <= longitude <= 180 and -90 <= latitude <= 90):
        differ(f"{what}: {longitude} {latitude} is no place")


def check_geojson(folder, subject, count):
    document = json.loads((folder / f"{subject}.geojson").read_text())
    features = document["features"]
    if document["type"] != "FeatureCollection" or set(document) != {"type", "features"}:
        differ(f"{subject}.geojson is no FeatureCollection")
    for feature in features:
        if feature["type"] != "Feature" or set(feature) != {"type", "geometry", "properties"}:
            differ(f"{subject}.geojson: {feature}")
        geometry = feature["geometry"]
        lines = {"Point": [[geometry["coordinates"]]], "LineString": [geometry["coordinates"]]}.get(geometry["type"], geometry["coordinates"])
        points = [place for line in lines for place in line]
        if geometry["type"] not in ("Point", "LineString", "MultiLineString") or geometry["type"] != "Point" and any(len(line) < 2 for line in lines):
            differ(f"{subject}.geojson: {geometry}")
        for longitude, latitude, *height in points:
            check_place(longitude, latitude, subject)
            if len(height) > 1:
                differ(f"{subject}.geojson: {points}")
    if count is not None and len(features) != count:
        differ(f"{subject}.geojson has {len(features)} features, {count} rows have a place")


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def check_gpx(folder, positions):
    space = "{http://www.topografix.com/GPX/1/1}"
    root = xml.parse(folder / "positions.gpx").getroot()
    if root.tag != space + "gpx" or root.get("version") != "1.1" or not root.get("creator"):
        differ("positions.gpx is no GPX 1.1")
    order = [space + name for name in ("ele", "time", "sat", "hdop", "vdop", "pdop", "extensions")]
    extension = "{http://www.garmin.com/xmlschemas/TrackPointExtension/v2}"
    points = list(root.iterfind(f"{space}trk/{space}trkseg/{space}trkpt"))
    for track in root:
        if [child.tag for child in track] != [space + "name", space + "trkseg"]:
            differ(f"a track has {[child.tag for child in track]}")
    if len(points) != len(positions):
        differ(f"positions.gpx has {len(points)} points of {len(positions)}")
    for point, row in zip(points, positions):
        found = [order.index(child.tag) for child in point]
        if found != sorted(found):
            differ(f"positions.gpx: {[child.tag for child in point]} is not the order of the schema")
        place = (float(point.get("lon")), float(point.get("lat")))
        check_place(*place, "positions.gpx")
        height = point.find(space + "ele")
        if place != (row["longitude"], row["latitude"]) or seconds(point.find(space + "time").text) != seconds(row["time"]):
            differ(f"positions.gpx: {place}, {row}")
        if (None if height is None else float(height.text)) != row["altitude"]:
            differ(f"positions.gpx: altitude of {row}")
        course = point.find(f"{space}extensions/{extension}TrackPointExtension/{extension}course")
        if (None if course is None else float(course.text)) != (row["ground_track"] if row["ground_track"] is None else row["ground_track"] % 360):
            differ(f"positions.gpx: course of {row}")
        speed = point.find(f"{space}extensions/{extension}TrackPointExtension/{extension}speed")
        if (speed is None) != (row["ground_speed"] is None) or speed is not None and abs(float(speed.text) * 3.6 - row["ground_speed"]) > 0.002:
            differ(f"positions.gpx: speed of {row}")
        for name in ("hdop", "vdop", "pdop"):
            found = point.find(space + name)
            if (None if found is None else float(found.text)) != row[name]:
                differ(f"positions.gpx: {name} of {row}")


def check_kml(folder, positions):
    space = "{http://www.opengis.net/kml/2.2}"
    root = xml.parse(folder / "positions.kml").getroot()
    marks = list(root.iterfind(f"{space}Document/{space}Folder/{space}Placemark"))
    if root.tag != space + "kml" or len(marks) != len(positions):
        differ(f"positions.kml has {len(marks)} places of {len(positions)}")
    for mark, row in zip(marks, positions):
        if [child.tag for child in mark] != [space + name for name in ("TimeStamp", "ExtendedData", "Point")]:
            differ(f"positions.kml: {[child.tag for child in mark]} is not the order of the schema")
        numbers = [float(part) for part in mark.find(f"{space}Point/{space}coordinates").text.split(",")]
        wanted = [row["longitude"], row["latitude"]] + ([] if row["altitude"] is None else [row["altitude"]])
        data = {entry.get("name"): entry.find(space + "value").text for entry in mark.iter(space + "Data")}
        if numbers != wanted or data.get("sequence") != str(row["sequence"]) or data.get("node") != row["node"]:
            differ(f"positions.kml: {numbers} {data}, {row}")
        if any((float(data[name]) if name in data else None) != row[name] for name in ("ground_track", "hdop", "pdop", "vdop")):
            differ(f"positions.kml: {data}, {row}")
        if seconds(mark.find(f"{space}TimeStamp/{space}when").text) != seconds(row["time"]):
            differ(f"positions.kml: time of {row}")


def main():
    folder = pathlib.Path(sys.argv[1])
    subjects = sorted(path.stem for path in folder.glob("*.csv"))
    rows = {subject: read_rows(folder, subject) for subject in subjects}
    check_geojson(folder, "positions", len(rows["positions"]))
    check_geojson(folder, "waypoints", sum(row["latitude"] is not None for row in rows["waypoints"]))
    check_geojson(folder, "traceroutes", None)
    check_gpx(folder, rows["positions"])
    check_kml(folder, rows["positions"])
    for problem in problems[:20]:
        print(problem)
    print(f"{len(subjects)} subjects, {sum(map(len, rows.values()))} rows, {len(problems)} differences")
    sys.exit(bool(problems))


main()
